/* SPDX-License-Identifier: MIT */
/* calls_special.c - rows: the functions of numbers that statements call. */
#include "calls.h"

#define OF1(name)                                                                              \
    ROW(name) {                                                                                \
        NUMBER(a);                                                                             \
        GIVES_NUMBER(name(a));                                                                 \
    }
#define OF2(name)                                                                              \
    ROW(name) {                                                                                \
        NUMBER(a);                                                                             \
        NUMBER(b);                                                                             \
        GIVES_NUMBER(name(a, b));                                                              \
    }
#define OF3(name)                                                                              \
    ROW(name) {                                                                                \
        NUMBER(a);                                                                             \
        NUMBER(b);                                                                             \
        NUMBER(v);                                                                             \
        GIVES_NUMBER(name(a, b, v));                                                           \
    }

#define ALL1(X)                                                                                \
    X(wgi_log1mexp)                                                                            \
    X(wgi_log1mexp_d)                                                                          \
    X(wgi_logit) X(wgi_logit_d) X(wgi_asec) X(wgi_acsc) X(wgi_asec_d) X(wgi_sinpi)             \
        X(wgi_cospi) X(wgi_sech) X(wgi_csch) X(wgi_asech) X(wgi_asech_d) X(wgi_acsch)          \
            X(wgi_acsch_d) X(wgi_acoth) X(wgi_exp_msq) X(wgi_erfcx) X(wgi_phi) X(wgi_Phi)      \
                X(wgi_log_Phi) X(wgi_log_Phi_d) X(wgi_inv_Phi) X(wgi_lgamma) X(wgi_digamma)    \
                    X(wgi_trigamma) X(wgi_j0) X(wgi_j1) X(wgi_y0) X(wgi_y1) X(wgi_lambertw0)   \
                        X(wgi_lambertw0_d) X(wgi_lambertwm1) X(wgi_lambertwm1_d)
#define ALL2(X)                                                                                \
    X(wgi_hypot_da_rare)                                                                       \
    X(wgi_log_base)                                                                            \
    X(wgi_log_add_exp) X(wgi_log_add_exp_da) X(wgi_log_diff_exp) X(wgi_log_diff_exp_da)        \
        X(wgi_log_diff_exp_db) X(wgi_atan2_da_rare) X(wgi_erfcx_d) X(wgi_inv_Phi_d)            \
            X(wgi_tgamma_d) X(wgi_j1_d) X(wgi_y1_d)
#define ALL3(X) X(wgi_pow_da) X(wgi_pow_db) X(wgi_log_base_da) X(wgi_log_base_db)

ALL1(OF1)
ALL2(OF2)
ALL3(OF3)

#define RARE(name) LISTED(name, 1),
static const struct row list[] = {ALL1(RARE) ALL2(RARE) ALL3(RARE)};
const struct rows calls_special = ROWS(list);
