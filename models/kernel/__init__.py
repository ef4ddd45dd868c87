"""The kernel: a checker of certificates, generated from functions proved sound in Coq."""
