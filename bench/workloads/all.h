/* SPDX-License-Identifier: MIT */
/* all.h - every kernel, for the type that wg_real is now. Included once per type. */
#include "chain_arithmetic.h"
#include "chain_mixed.h"
#include "lax_wendroff.h"
#include "toon.h"
#include "burgers.h"
#include "brusselator.h"
#include "bundle.h"
#include "mixture.h"
#include "lstm.h"
#include "rosenbrock.h"
