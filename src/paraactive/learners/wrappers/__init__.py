"""Learners around models of torch and scikit-learn, and what they need to keep the promises of a learner."""
