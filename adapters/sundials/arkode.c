/* SPDX-License-Identifier: MIT */
/* arkode.c - ARKStep's callbacks for rates in two parts. */
#include "wengert/sundials.h"

int wg_arkode_explicit(sunrealtype t, N_Vector y, N_Vector ydot, void *split) {
    const wg_arkode_split *const s = split;
    return wg_cvode_rates(t, y, ydot, s->explicit_part);
}

int wg_arkode_implicit(sunrealtype t, N_Vector y, N_Vector ydot, void *split) {
    const wg_arkode_split *const s = split;
    return wg_cvode_rates(t, y, ydot, s->implicit_part);
}

int wg_arkode_jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix jac, void *split,
                       N_Vector t1, N_Vector t2, N_Vector t3) {
    const wg_arkode_split *const s = split;
    return wg_cvode_jacobian(t, y, fy, jac, s->implicit_part, t1, t2, t3);
}

int wg_arkode_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector fy,
                    void *split, N_Vector tmp) {
    const wg_arkode_split *const s = split;
    return wg_cvode_times(v, jv, t, y, fy, s->implicit_part, tmp);
}
