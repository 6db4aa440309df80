"""The MNIST digits, with unlimited deformed copies (`digits`)."""
