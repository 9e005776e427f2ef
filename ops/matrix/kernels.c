/* SPDX-License-Identifier: MIT */
/* Covariance functions as scalar operations, where covariances are written out (covariance.c):
 * a function that is loaded finds them by name. */
#include "kernels.h"
#include "expand.h"

#include <math.h>
#include <wengert/operation.h>

/* As functions of q = r^2, of which the slope is finite where points coincide; second slopes,
 * which are not, are multiplied by q, and next to nothing where q is: so they are finite, but
 * not third ones. */
WG_OPERATION1(wgi_matern_32, (1 + sqrt(3 * within(a))) * exp(-sqrt(3 * a)),
              -1.5 * exp(-sqrt(3 * a)), 2.25 / sqrt(3 * fmax(a, 5e-324)) * exp(-sqrt(3 * a)),
              SING, "Rasmussen and Williams 2006, 4.17")
WG_OPERATION1(wgi_matern_52, (1 + sqrt(5 * within(a)) + 5 * within(a) / 3) * exp(-sqrt(5 * a)),
              -(1 + sqrt(5 * within(a))) * exp(-sqrt(5 * a)) / 1.2,
              25 * exp(-sqrt(5 * a)) / 12.0, SING, "Rasmussen and Williams 2006, 4.17")

const wg_scalar_op *const wgi_expand_matern_32 = &wgi_user_wgi_matern_32;
const wg_scalar_op *const wgi_expand_matern_52 = &wgi_user_wgi_matern_52;
