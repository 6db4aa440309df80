"""Learners around models of torch and scikit-learn, and what makes them keep the contract of a learner."""
