"""The network with one hidden layer."""
