/* What `module.c`, `session.c` and `meeting.c` share. */
#ifndef CHARON_SESSION_H
#define CHARON_SESSION_H

#include "advance.h"

/* The program in a capsule, or NULL with an exception set. */
Program *program_of(PyObject *capsule);
/* Whether a state and a list of watches belong to a program; sets an exception if not. */
int fits(const Program *p, const Method *m, Py_ssize_t x, Py_ssize_t held, const int *active,
         int count);
PyObject *core_result(const Core *core, int stop);

PyObject *session_open(PyObject *self, PyObject *args);
PyObject *session_go(PyObject *self, PyObject *args);
PyObject *fleet_open(PyObject *self, PyObject *args);
PyObject *fleet_shape(PyObject *self, PyObject *args);
PyObject *fleet_pair(PyObject *self, PyObject *args);
PyObject *fleet_move(PyObject *self, PyObject *args);
PyObject *fleet_meet(PyObject *self, PyObject *args);
#endif
