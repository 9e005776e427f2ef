// SPDX-License-Identifier: MIT
// sacado_fad.hpp - Sacado's forward mode alone. Debian's is configured with parts of Trilinos
// that want MPI; numbers with tangents need none of them.
#ifndef WENGERT_BENCH_SACADO_FAD_HPP
#define WENGERT_BENCH_SACADO_FAD_HPP

#include <Sacado_ConfigDefs.h>
#undef HAVE_SACADO_TEUCHOSCORE
#undef HAVE_SACADO_TEUCHOSCOMM
#undef HAVE_SACADO_TEUCHOSNUMERICS
#undef HAVE_SACADO_TEUCHOSKOKKOSCOMM
#undef HAVE_SACADO_KOKKOSCORE
#undef HAVE_SACADO_KOKKOSCONTAINERS
#undef HAVE_SACADO_VIEW_SPEC

#include <Sacado_Fad_SFad.hpp>
#include <Trilinos_version.h>

#endif
