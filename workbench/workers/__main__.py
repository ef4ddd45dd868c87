"""`python -m workbench.workers MODULE GIGABYTES`: the process that does the tasks of a module."""

from workbench.workers.process import main

main()
