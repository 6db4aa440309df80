"""The network of one hidden layer."""
