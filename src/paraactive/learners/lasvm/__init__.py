"""The online kernel SVM: its steps (`svm`), its kernels, its vectors, its cheap score."""
