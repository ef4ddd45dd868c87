/* Programs as Python holds them. */
#ifndef CHARON_PROGRAM_H
#define CHARON_PROGRAM_H

#include "advance.h"

PyObject *program_load(PyObject *self, PyObject *args); /* a capsule; see `load_program` */
Program *program_of(PyObject *capsule); /* NULL with a Python exception set if it is none */
#endif
