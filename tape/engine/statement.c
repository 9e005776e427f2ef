/* SPDX-License-Identifier: MIT */
/* The list functions of the statement recorder as symbols of the library: what user code
 * compiled without optimisation calls, where optimised code has them inline. */
#define WGI_EMIT_LISTS
#include <wengert/statement.h>
