# SPDX-License-Identifier: MIT
# Wengert. `make` builds the library, `make help` lists the targets.
#
# Yours:  CC CXX CPPFLAGS CFLAGS CXXFLAGS LDFLAGS, prefix (or PREFIX) libdir includedir DESTDIR, BLAS_LIBS,
#         WERROR=1 (warnings are errors), V=1 (show the commands),
#         T=PATTERN (only the tests so named, as in T='test_ops_*'), DEPTH=2 (with repetitions),
#         TEST_LEVEL=-O0 (how tests are optimised; those in TEST_LEVEL_NOT are as the library),
#         CACHE= (no ccache, which compiles where it is installed).
# Ours:   everything else. Objects stand in build/<hash of compiler and flags>/, so that
#         compilers, sanitizers and flags never mix.

DRY := $(findstring n,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
MAKEFLAGS += --no-builtin-rules
# As many at a time as there are processors; what is given (-j1), or stands in MAKEFLAGS of the environment, counts more.
# Beside `clean` one after another, as they are named.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS))$(shell echo "$$MAKEFLAGS" | grep -E '(^| )(-?[a-zA-Z]*j[0-9]*|--jobs(=[0-9]*)?)( |$$)'),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 1)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := lib

CFLAGS ?= -O2
CXXFLAGS ?= $(CFLAGS)
ifeq ($(origin CXX),default)
CXX = $(if $(findstring clang,$(notdir $(CC))),$(subst clang,clang++,$(CC)),g++)
endif
prefix ?= $(or $(PREFIX),/usr/local)
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
pkgconfigdir ?= $(libdir)/pkgconfig
BENCH_FLAGS ?= -O3 -march=native
BENCH_ARGS ?= --peers
PEER_FLAGS ?= -std=c++17 -O3 -march=native -DNDEBUG
SECONDS ?= 60
VALGRIND_TESTS ?= test_tape_*
TEST_TIMEOUT ?= 600
DEPTH ?= 1
TEST_JOBS ?= $(shell nproc 2>/dev/null || echo 1)
# Of the tests, as users are advised to: those of statements. The others are compiled at -O0, in two fifths of the time.
TEST_LEVEL_NOT ?= opt_problems_kernel test_include_% test_tape_statement% test_tape_scalar test_tape_small_code \
    test_tape_sweep test_tape_branches test_tape_loop test_tape_forward% test_tape_zero_rule test_tape_programs \
    test_tape_steady fuzz/programs% fuzz/tape fuzz/calls_statement%
ifeq ($(origin CACHE),undefined)
CACHE := $(if $(findstring ccache,$(CC)),,$(shell command -v ccache))
endif

# ---- dependencies ---------------------------------------------------------------------------
# What run, test and bench need beside make. The stamp is an included makefile: make itself
# starts again once it is there, and then sees the compiler that was missing. A cblas.h alone may be
# the reference BLAS's: OpenBLAS is there where a program links with it.

# Installs the packages $$need, or prints the command to type where it may not.
define apt
if [ "$$need" ]; then \
    as=; [ "$$(id -u)" = 0 ] || as='sudo -n'; \
    if ! command -v apt-get >/dev/null || ! $$as true 2>/dev/null; then \
        echo "Missing:$$need. On Debian or Ubuntu type:" >&2; \
        echo "    sudo apt-get install$$need" >&2; exit 1; \
    fi; \
    echo "Installing$$need"; \
    $$as apt-get update -q >/dev/null; \
    $$as env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $$need >/dev/null; \
fi
endef

STAMP := build/deps$(patsubst %,-%,$(filter-out cc gcc,$(notdir $(firstword $(CC)))))$(if $(filter bench-report,$(MAKECMDGOALS)),-report)
ifneq ($(filter deps run test test-% bench bench-report gradbench coverage-report fuzz-run,$(MAKECMDGOALS)),)
ifeq ($(DRY),)
include $(STAMP)
endif
endif

$(STAMP):
	@set -e; need=; \
	want() { case "$$need " in *" $$1 "*) ;; *) need="$$need $$1";; esac; }; \
	have_header() { echo "#include <$$1>" | $(CC) $(CPPFLAGS) $(BLAS_CFLAGS) -E - >/dev/null 2>&1; }; \
	links() { echo 'int main(void) { return 0; }' | $(CC) $(LDFLAGS) -x c - -o $@.probe "$$@" 2>/dev/null && rm $@.probe; }; \
	mkdir -p $(@D); \
	case '$(notdir $(CC))' in *clang*) cc=clang cxx=clang;; *) cc=gcc cxx=g++;; esac; \
	command -v $(firstword $(CC)) >/dev/null || want $$cc; \
	command -v $(firstword $(CXX)) >/dev/null || want $$cxx; \
	have_header stdio.h || want libc6-dev; \
	command -v pkg-config >/dev/null || want pkg-config; \
	pkg-config --exists cmocka 2>/dev/null || have_header cmocka.h || want libcmocka-dev; \
	pkg-config --exists jansson 2>/dev/null || have_header jansson.h || want libjansson-dev; \
	{ have_header cblas.h && links $(filter-out -llapacke,$(BLAS_LIBS)); } || want libopenblas-dev; \
	pkg-config --exists lapacke 2>/dev/null || have_header lapacke.h || want liblapacke-dev; \
	case $@ in *-report) command -v gnuplot >/dev/null || want gnuplot-nox;; esac; \
	$(apt); \
	touch $@

# ---- flags ----------------------------------------------------------------------------------

OUR_CPPFLAGS := -Iinclude -I.
OUR_CFLAGS := -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes \
    -Wmissing-prototypes -fvisibility=hidden -fPIC -ffp-contract=off $(if $(WERROR),-Werror)
OUR_CXXFLAGS := -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -fvisibility=hidden \
    -fPIC -ffp-contract=off $(if $(WERROR),-Werror)
OUR_LDFLAGS := -Wl,--as-needed
# A sanitizer's run-time functions come with the program.
NO_UNDEFINED := $(if $(findstring -fsanitize,$(CFLAGS)),,-Wl,-z,defs)

packages = $(shell pkg-config $(1) $(2) 2>/dev/null || echo $(3))
BLAS_CFLAGS ?= $(call packages,--cflags,lapacke openblas)
BLAS_LIBS ?= $(call packages,--libs,lapacke openblas,-llapacke -lopenblas)
# has HEADER TEXT: the text, where the compiler finds the header.
has = $(shell $(CC) $(CPPFLAGS) -include $(1) -fsyntax-only -x c /dev/null 2>/dev/null && echo $(2))
# Sparse solves are there where SuiteSparse is; without it they refuse.
SUITESPARSE := $(call has,suitesparse/umfpack.h,-lcholmod -lumfpack)
MATH_CFLAGS := $(BLAS_CFLAGS) $(if $(SUITESPARSE),-DWG_HAVE_SUITESPARSE)
MATH_LIBS := $(SUITESPARSE) $(BLAS_LIBS)
# Compiled functions are loaded: a library of its own before glibc 2.34.
SYSTEM_LIBS := -ldl -lm
CMOCKA_CFLAGS := $(call packages,--cflags,cmocka)
CMOCKA_LIBS := $(call packages,--libs,cmocka,-lcmocka)
# JSON: of the benches and their tests, not of the library.
JANSSON_CFLAGS := $(call packages,--cflags,jansson)
JANSSON_LIBS := $(call packages,--libs,jansson,-ljansson)
# $(shell) does not see make's variables; the hash is of this text and the compiler's version.
quoted = '$(subst ','\'',$(1))'
FLAGS := $(CC)|$(CXX)|$(CPPFLAGS)|$(CFLAGS)|$(CXXFLAGS)|$(LDFLAGS)|$(OUR_CPPFLAGS)|$(OUR_CFLAGS)|$(BENCH_FLAGS)|$(PEER_FLAGS)|$(MATH_LIBS)$(if $(filter mpich,$(MPI)),|mpich)$(if $(TEST_LEVEL),|$(TEST_LEVEL)|$(TEST_LEVEL_NOT))
B := build/$(shell { printf '%s\n' $(call quoted,$(FLAGS)); $(CC) --version; } 2>/dev/null | cksum | cut -d' ' -f1)

VERSION := $(shell sed -n 's/^.define WG_VERSION "\(.*\)"/\1/p' include/wengert/config.h)
SO_NUMBER := $(firstword $(subst ., ,$(VERSION)))
SO := libwengert.so.$(SO_NUMBER)
COMMIT := $(shell git describe --always --dirty --tags 2>/dev/null || echo unknown)

say = $(if $(V),,@printf '  %-4s %s\n' $(1) $(2);)

# ---- sources --------------------------------------------------------------------------------
# A file with main() is a program; the others of its folder are linked into each of them.

with_main = $(if $(1),$(shell grep -lE '^int main\b' $(1)))
objects = $(patsubst %,$(B)/%.o,$(basename $(1)))

LIB_SRCS := $(sort $(shell find ops tape -name '*.c' ! -name 'generate*'))
LIB_OBJS := $(call objects,$(LIB_SRCS))

T ?= *
# chosen FOLDER/ SUFFIXES: the files there whose names are of a pattern in T, each once
chosen = $(sort $(foreach t,$(T),$(wildcard $(addprefix $(1)$(t),$(2)))))
TEST_SRCS := $(call chosen,test/,.c .cpp)
TEST_PROGS := $(patsubst %,$(B)/%,$(basename $(filter test/test_%,$(TEST_SRCS))))
# What is named like a script belongs to that.
SUPPORT_OBJS := $(call objects,$(filter-out test/room.c test/test_% $(patsubst %.sh,%.c,$(wildcard test/*.sh)),$(wildcard test/*.c)))
SCRIPTS ?= $(call chosen,test/,.sh)
# Generators of test/fuzz/: those with a main(), and those that take any bytes, which get one.
FUZZ_SRCS := $(filter-out test/fuzz/replay.c,$(wildcard test/fuzz/*.c))
FUZZ_BYTES := $(shell grep -l '^int LLVMFuzzerTestOneInput' $(FUZZ_SRCS))
FUZZ_MAINS := $(call with_main,$(FUZZ_SRCS))
FUZZ_OBJS := $(call objects,$(filter-out $(FUZZ_BYTES) $(FUZZ_MAINS),$(FUZZ_SRCS)))
fuzz_progs = $(patsubst %.c,$(B)/%,$(filter $(call chosen,test/fuzz/,.c),$(1)))
FUZZ_PROGS := $(call fuzz_progs,$(FUZZ_BYTES) $(FUZZ_MAINS))

EXAMPLE_SRCS := $(wildcard examples/*.c examples/*.cpp)
EXAMPLE_MAINS := $(call with_main,$(EXAMPLE_SRCS))
EXAMPLES := $(patsubst %,$(B)/%,$(basename $(EXAMPLE_MAINS)))
EXAMPLE_OBJS := $(call objects,$(filter-out $(EXAMPLE_MAINS),$(EXAMPLE_SRCS)))
EXAMPLE_LIBS := $(call has,zlib.h,-lz)
EXAMPLE_TESTS := $(filter $(patsubst %,$(B)/%,$(basename $(call chosen,examples/,.c .cpp))),$(EXAMPLES))

BENCH_SRCS := $(wildcard bench/*.c bench/workloads/*.c bench/peers/*.c)
BENCH_MAINS := $(call with_main,$(wildcard bench/*.c))
# What reads results, and measures nothing.
BENCH_TOOLS := $(filter %/compare %/page,$(patsubst %.c,$(B)/%,$(BENCH_MAINS)))
BENCHES := $(filter-out $(BENCH_TOOLS),$(patsubst %.c,$(B)/%,$(BENCH_MAINS)))
BENCH_CORE := $(call objects,bench/harness.c bench/report.c)
CXX_PROGS := $(patsubst %.cpp,$(B)/%,$(filter %.cpp,$(TEST_SRCS) $(EXAMPLE_MAINS)))
BENCH_OBJS := $(call objects,$(filter-out $(BENCH_MAINS) bench/evals_input.c bench/evals_case.c bench/page_plot.c,$(BENCH_SRCS)))
# The tool that GradBench talks to; its modules are also what bench/evals times.
GRADBENCH_OBJS := $(call objects,$(filter-out bench/gradbench/main.c,$(wildcard bench/gradbench/*.c)))
GRADBENCH := $(B)/bench/gradbench/main

# ---- adapters -------------------------------------------------------------------------------
# One for each solver, a small library of its own, where the solver is: name (of the folder, the header
# wengert/NAME.h and libwengert-NAME), headers of the solver, Debian package, pkg-config module, libraries, and
# libraries and flags that tests need beside; - is nothing. `problem` is beneath all others. A program is linked with libwengert before the solver: GSL
# brings a CBLAS of its own, and the one that comes first is everybody's.

comma := ,
space := $(subst ,, )
# field N,ROW
field = $(patsubst -,,$(subst $(comma), ,$(word $(1),$(subst :, ,$(2)))))

# MPI=mpich: adapters/mpi and adapters/scalapack for MPICH, which stands beside Open MPI; PETSc is Open MPI's.
MPI ?= openmpi
MPIRUN ?= $(if $(filter mpich,$(MPI)),mpirun.mpich,mpirun)
MPI_DEBIAN := $(if $(filter mpich,$(MPI)),libmpich-dev$(comma)mpich,libopenmpi-dev$(comma)openmpi-bin)
MPI_PACKAGE := $(if $(filter mpich,$(MPI)),mpich,mpi-c)
MPI_LIB := $(if $(filter mpich,$(MPI)),-lmpich,-lmpi)

ADAPTERS := \
    problem:-:-:-:- \
    ipopt:IpStdCInterface.h:coinor-libipopt-dev:ipopt:-lipopt \
    nlopt:nlopt.h:libnlopt-dev:nlopt:-lnlopt \
    gsl:gsl/gsl_multilarge_nlinear.h:libgsl-dev:gsl:-lgsl \
    cminpack:cminpack.h:libcminpack-dev:cminpack:-lcminpack \
    lbfgs:lbfgs.h:liblbfgs-dev:liblbfgs:-llbfgs \
    sundials:sundials/sundials_nvector.h,sunlinsol/sunlinsol_klu.h:libsundials-dev,libsuitesparse-dev:-:-lsundials_generic:$(subst $(space),$(comma),$(addprefix -lsundials_,cvodes idas arkode kinsol nvecserial sunmatrixdense sunmatrixband sunmatrixsparse sunlinsoldense sunlinsolband sunlinsolklu sunlinsolspgmr)):-isystem/usr/include/suitesparse \
    $(if $(filter mpich,$(MPI)),,petsc:petscdmda.h$(comma)petscsnes.h$(comma)petscts.h$(comma)petsctao.h:libpetsc-real-dev:PETSc$(comma)mpi-c:-lpetsc_real$(comma)-lmpi) \
    mpi:mpi.h:$(MPI_DEBIAN):$(MPI_PACKAGE):$(MPI_LIB):-:-Iadapters/ranks \
    scalapack:mpi.h:libscalapack-$(MPI)-dev:$(MPI_PACKAGE):-lscalapack-$(MPI),$(MPI_LIB):-:-Iadapters/mpi,-Iadapters/ranks

# Adapters that the tests and examples of another one use, too.
ALSO_scalapack := mpi
SOLVER_ROWS := $(filter-out problem:%,$(ADAPTERS))
solver_cflags = $(patsubst -I%,-isystem%,$(if $(call field,4,$(1)),$(call packages,--cflags,$(call field,4,$(1))))) $(call field,7,$(1))
# It is there when a program with its headers is linked with its libraries: ScaLAPACK has no header of its own.
solver_found = $(shell echo 'int main(void) { return 0; }' | $(CC) $(CPPFLAGS) $(call solver_cflags,$(1)) $(addprefix -include ,$(call field,2,$(1))) -x c - -o /dev/null $(call field,5,$(1)) 2>/dev/null && echo $(1))
ifneq ($(filter test programs adapters bench-mpi install uninstall deps-solvers deps-mpi deps-tests,$(MAKECMDGOALS)),)
ADAPTERS_FOUND := $(filter problem:%,$(ADAPTERS)) $(foreach row,$(SOLVER_ROWS),$(call solver_found,$(row)))
endif
ADAPTERS_ABSENT := $(filter-out $(ADAPTERS_FOUND),$(ADAPTERS))
ADAPTER_NAMES := $(foreach row,$(ADAPTERS_FOUND),$(call field,1,$(row)))
adapter_libs = $(foreach n,$(ADAPTER_NAMES),$(B)/libwengert-$(n).a $(B)/libwengert-$(n).so.$(SO_NUMBER) $(B)/wengert-$(n).pc)
adapter_srcs = $(filter-out adapters/$(1)/test_% adapters/$(1)/example_% adapters/$(1)/bench_%,$(wildcard adapters/$(1)/*.c))
adapter_progs = $(foreach n,$(ADAPTER_NAMES),$(patsubst %.c,$(B)/%,$(filter adapters/$(n)/test_% adapters/$(n)/example_% adapters/$(n)/bench_%,$(1))))
ADAPTER_PROGS := $(filter-out $(B)/adapters/mpi/bench_%,$(call adapter_progs,$(call chosen,adapters/*/,.c)))

# ---- the converter --------------------------------------------------------------------------
# Built where libclang's C interface is, Debian's libclang-dev.

CLANG_DIR ?= $(patsubst %/include/clang-c/Index.h,%,$(lastword $(sort $(wildcard /usr/lib/llvm-1[4-9]/include/clang-c/Index.h))))
CONVERT_SRCS := $(filter-out convert/test_%,$(wildcard convert/*.c))
CONVERT := $(if $(CLANG_DIR),$(B)/wengert-convert)
CONVERT_TESTS := $(if $(CLANG_DIR),$(patsubst %.c,$(B)/%,$(call chosen,convert/,.c)))
CONVERT_TESTS := $(filter $(B)/convert/test_%,$(CONVERT_TESTS))

# ---- compiling ------------------------------------------------------------------------------

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CACHE) $(CC) $(OUR_CPPFLAGS) $(MORE_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) $(MORE_CFLAGS) -MD -MP -c -o $@ $<

$(B)/%.o: %.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CACHE) $(CXX) $(OUR_CPPFLAGS) $(MORE_CPPFLAGS) $(CPPFLAGS) $(OUR_CXXFLAGS) $(CXXFLAGS) $(MORE_CXXFLAGS) -MD -MP -c -o $@ $<

# A .list holds the names of what goes into an archive or a program: a file taken away is noticed.
list = $(B)/$(1).list
define LIST
$(call list,$(1)): FORCE
	@mkdir -p $$(@D); echo $(call quoted,$(2)) | cmp -s - $$@ || echo $(call quoted,$(2)) > $$@
endef
$(eval $(call LIST,lib,$(LIB_OBJS)))
$(eval $(call LIST,support,$(SUPPORT_OBJS)))
$(eval $(call LIST,fuzz,$(FUZZ_OBJS)))
$(eval $(call LIST,examples,$(EXAMPLE_OBJS) $(EXAMPLE_LIBS)))

archive = $(call say,AR,$@)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
LINKER = $(CC) $(CFLAGS)
$(CXX_PROGS): LINKER = $(CXX) $(CXXFLAGS)
link = $(call say,LD,$@)$(LINKER) $(LDFLAGS) $(OUR_LDFLAGS) -o $@
# What tests and examples are linked with: the static library, as its users do it. The shared one, where
# it shows the tests all they ask for: with sanitizers, to link a program takes longer than to compile it.
SHARED := $(findstring -fvisibility=default,$(CFLAGS))
LIBRARY := $(B)/$(if $(SHARED),$(SO),libwengert.a)
with_library = $(GOLD) $(filter %.o,$^) $(filter %.a $(LIBRARY),$^) $(if $(SHARED),$(BESIDE))
# Such programs are linked by gold, where it is there, in a third of the time.
GOLD := $(if $(findstring -fuse-ld,$(CC) $(CFLAGS) $(LDFLAGS)),,$(shell echo 'int main(void) { return 0; }' | $(CC) $(LDFLAGS) -fuse-ld=gold -x c - -o /dev/null 2>/dev/null && echo -fuse-ld=gold))
BESIDE := -Wl,-rpath,'$$ORIGIN/..:$$ORIGIN/../..' # of programs of tests, and of generators

$(B)/libwengert.a: $(LIB_OBJS) $(call list,lib)
	$(archive)

$(B)/$(SO): $(LIB_OBJS) $(call list,lib)
	$(link) -shared -Wl,-soname,$(SO) $(NO_UNDEFINED) $(filter %.o,$^) $(MATH_LIBS) $(SYSTEM_LIBS)

$(B)/wengert.pc: Makefile include/wengert/config.h FORCE
	@mkdir -p $(@D)
	@{ echo 'prefix=$(prefix)'; \
	   echo 'libdir=$(patsubst $(prefix)/%,$${prefix}/%,$(libdir))'; \
	   echo 'includedir=$(patsubst $(prefix)/%,$${prefix}/%,$(includedir))'; \
	   echo; \
	   echo 'Name: wengert'; \
	   echo 'Description: Derivatives of numerical C codes'; \
	   echo 'Version: $(VERSION)'; \
	   echo 'Libs: -L$${libdir} -lwengert -lm'; \
	   echo 'Libs.private: $(MATH_LIBS) -ldl'; \
	   echo 'Cflags: -I$${includedir}'; } > $@

# find_package(wengert): wengert::wengert is the shared library, wengert::static the other one.
$(B)/wengert-config.cmake: Makefile include/wengert/config.h FORCE
	@mkdir -p $(@D)
	@include=$$(realpath -m --relative-to='$(libdir)' '$(includedir)'); \
	{ echo 'get_filename_component(wengert_libdir "$${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)'; \
	  echo "get_filename_component(wengert_includedir \"\$${wengert_libdir}/$$include\" ABSOLUTE)"; \
	  echo 'if(NOT TARGET wengert::wengert)'; \
	  echo '    add_library(wengert::wengert SHARED IMPORTED)'; \
	  echo '    set_target_properties(wengert::wengert PROPERTIES'; \
	  echo '        IMPORTED_LOCATION "$${wengert_libdir}/$(SO)" IMPORTED_SONAME $(SO)'; \
	  echo '        INTERFACE_INCLUDE_DIRECTORIES "$${wengert_includedir}" INTERFACE_LINK_LIBRARIES m)'; \
	  echo '    add_library(wengert::static STATIC IMPORTED)'; \
	  echo '    set_target_properties(wengert::static PROPERTIES'; \
	  echo '        IMPORTED_LOCATION "$${wengert_libdir}/libwengert.a"'; \
	  echo '        INTERFACE_INCLUDE_DIRECTORIES "$${wengert_includedir}"'; \
	  echo "        INTERFACE_LINK_LIBRARIES \"$$(echo $(MATH_LIBS) dl m | tr ' ' ';')\")"; \
	  echo 'endif()'; } > $@
	@{ echo 'set(PACKAGE_VERSION $(VERSION))'; \
	   echo 'if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)'; \
	   echo '    set(PACKAGE_VERSION_COMPATIBLE TRUE)'; \
	   echo 'endif()'; \
	   echo 'if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)'; \
	   echo '    set(PACKAGE_VERSION_EXACT TRUE)'; \
	   echo 'endif()'; } > $(B)/wengert-config-version.cmake

# ---- everyday -------------------------------------------------------------------------------

help: ## this list
	@echo 'Wengert $(VERSION). Targets:'
	@sed -n 's/^\([a-z%-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	    awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'
	@sed -n '4,9s/^# *//p' $(firstword $(MAKEFILE_LIST))

run: $(B)/examples/nist $(BENCHES) ## fit the NIST reference problems, then a short bench
	@$(B)/examples/nist
	@$(foreach b,$(BENCHES),$(b) --small &&) true

# The tests of the converter and scripts take longest: those first, so that no processor waits for them at the end.
test: programs ## build and run every test; the last line counts them
	$(absent)
	@MAKE='$(MAKE_COMMAND)' CC='$(CC)' CXX='$(CXX)' CPPFLAGS='$(CPPFLAGS)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
	MATH_LIBS='$(MATH_LIBS)' MATH_CFLAGS='$(MATH_CFLAGS)' B='$(B)' GENERATED='$(GENERATED)' TEST_TIMEOUT='$(TEST_TIMEOUT)' TEST_JOBS='$(TEST_JOBS)' \
	DEPTH='$(DEPTH)' ADAPTERS='$(ADAPTER_NAMES)' MPIRUN='$(MPIRUN)' \
	    sh test/run $(CONVERT_TESTS) $(SCRIPTS) $(TEST_PROGS) $(FUZZ_PROGS) $(EXAMPLE_TESTS) $(ADAPTER_PROGS)

# The scripts that watch over the house itself.
HOUSE := rooms includes adapters abi headers generated expands readme

test-house: ## the tests of the house: rooms, includes, exported names, headers, generated files, texts
	+@$(MAKE) --no-print-directory test T=none SCRIPTS='$(HOUSE:%=test/%.sh)'

test-%: FORCE ## only the tests of one room, or one test: test-ops, test-function, test-tape_sweep, ...
	+@$(MAKE) --no-print-directory test T='test_$* test_$*_*'

# for_scripts NAMES,PROGRAMS: what these scripts look at, where they are run
for_scripts = $(if $(filter $(1:%=test/%.sh),$(SCRIPTS)),$(2))
programs: lib $(TEST_PROGS) $(FUZZ_PROGS) $(EXAMPLE_TESTS) $(ADAPTER_PROGS) $(CONVERT_TESTS) $(if $(SCRIPTS)$(CONVERT_TESTS),$(CONVERT)) $(if $(SCRIPTS),$(adapter_libs)) \
    $(call for_scripts,gradbench,$(GRADBENCH)) $(call for_scripts,bench_%,$(B)/bench/evals $(BENCH_TOOLS)) $(call for_scripts,generated,$(B)/ops/scalar/generate)

bench: $(BENCHES) ## build and run the benches, with the peers that are installed
	@$(foreach b,$(BENCHES),$(b) $(BENCH_ARGS) &&) true

bench-report: $(BENCHES) $(B)/bench/page ## the same, as a page with plots: build/report/index.html
	@mkdir -p build/report
	@$(foreach b,$(BENCHES),$(b) $(BENCH_ARGS) --json build/report/$(notdir $(b)).json &&) true
	@$(B)/bench/page build/report $(patsubst $(B)/bench/%,build/report/%.json,$(BENCHES))

bench-mpi: $(B)/adapters/mpi/bench_mpi $(B)/adapters/mpi/bench_scale ## what communication costs (Open MPI)
	mpirun -n 2 --oversubscribe --allow-run-as-root --bind-to none $< $(BENCH_MPI_ARGS)
	for n in 1 2 4 8 16; do mpirun -n $$n --oversubscribe --allow-run-as-root --bind-to none \
	    --mca mpi_yield_when_idle 1 $(B)/adapters/mpi/bench_scale || exit 1; done

compare: $(B)/bench/compare ## what got slower between two files of results: OLD=FILE NEW=FILE
	@$< '$(OLD)' '$(NEW)'

gradbench: $(GRADBENCH) ## build/gradbench, which speaks GradBench's protocol
	@ln -sf ../$< build/gradbench

examples: $(EXAMPLES) ## the programs of examples/, as build/examples/NAME
	@mkdir -p build/examples
	@$(foreach e,$(EXAMPLES),ln -sf ../../$(e) build/examples/ &&) true

lib: $(B)/libwengert.a $(B)/$(SO) $(B)/wengert.pc ## the static and the shared library

adapters: lib $(adapter_libs) ## the libraries of adapters/, of the solvers that are installed
	$(absent)

convert: $(CONVERT) ## wengert-convert, where libclang is installed
	$(if $(CONVERT),,@echo 'convert: no clang-c/Index.h here: skipped (make deps-convert)')

# A line for each adapter whose solver is not here, and for the converter.
absent = @$(if $(CONVERT),,echo 'convert: no clang-c/Index.h here: skipped (make deps-convert)';)$(foreach row,$(ADAPTERS_ABSENT),echo 'adapters/$(call field,1,$(row)): no $(firstword $(call field,2,$(row))) here, or not $(lastword $(call field,3,$(row))): skipped (make deps-solvers)';) true

deps: $(STAMP) ## install what run and test need (apt)
	@:

# What a part of the library or of its tests needs; where it is absent, that part is left out and says so.
want_sparse = $(if $(SUITESPARSE),:,need="$$need libsuitesparse-dev")
want_cxx = has() { echo "\#include <$$1>" | $(CXX) -isystem /usr/include/eigen3 -x c++ -E - >/dev/null 2>&1; }; \
    has Eigen/Core || need="$$need libeigen3-dev"; has boost/numeric/odeint.hpp || need="$$need libboost-dev"
want_solvers = $(foreach row,$(ADAPTERS_ABSENT),need="$$need $(call field,3,$(row))";) :
want_mpi = $(foreach row,$(filter mpi:% scalapack:%,$(ADAPTERS_ABSENT)),need="$$need $(call field,3,$(row))";) \
    command -v $(MPIRUN) >/dev/null || case "$$need" in *$(lastword $(subst $(comma), ,$(MPI_DEBIAN)))*) ;; *) need="$$need $(lastword $(subst $(comma), ,$(MPI_DEBIAN)))";; esac
want_convert = $(if $(CLANG_DIR),:,need="$$need libclang-dev")
want_tests = command -v gdb >/dev/null || need="$$need gdb"; command -v objdump >/dev/null || need="$$need binutils"; \
    command -v cmake >/dev/null || need="$$need cmake"

deps-sparse: ## install SuiteSparse, for sparse solves (apt)
	@set -e; need=; $(want_sparse); $(apt)

deps-cxx: ## install Eigen and Boost, for tests of wg::active in them (apt)
	@set -e; need=; $(want_cxx); $(apt)

deps-solvers: ## install the solvers that adapters/ are for (apt)
	@set -e; need=; $(want_solvers); $(apt)

deps-mpi: ## install Open MPI (MPI=mpich: MPICH) and ScaLAPACK, for adapters/mpi and adapters/scalapack (apt)
	@set -e; need=; $(want_mpi); $(apt)

deps-convert: ## install libclang, for the converter (apt)
	@set -e; need=; $(want_convert); $(apt)

deps-tests: ## install all that tests of parts need, at once: these, gdb, binutils, cmake (apt)
	@set -e; need=; $(want_sparse); $(want_cxx); $(want_solvers); $(want_mpi); $(want_convert); $(want_tests); $(apt)

clean: ## remove build/
	rm -rf build

# ---- tests and examples ---------------------------------------------------------------------

$(B)/test/%.o $(B)/examples/%.o: MORE_CPPFLAGS = $(CMOCKA_CFLAGS) $(JANSSON_CFLAGS) $(MATH_CFLAGS)
low_level = $(or $(TEST_LEVEL),$(patsubst -O2,-O0,$(filter -O2,$(CFLAGS))))
test_level = $(if $(filter $(TEST_LEVEL_NOT:%=$(B)/test/%.o),$@),,$(low_level))
$(B)/test/%.o: MORE_CFLAGS = $(test_level)
# A kernel of every operation, which gcc compiles in less time at this level than at any other.
$(B)/test/program.o: MORE_CFLAGS = $(or $(TEST_LEVEL),$(patsubst -O2,-O1,$(filter -O2,$(CFLAGS))))
$(B)/ops/%.o $(B)/tape/%.o: MORE_CPPFLAGS = $(MATH_CFLAGS)
# Loops over arrays that gcc vectorises at this level only.
$(addprefix $(B)/ops/,matrix/convolution_maps.o matrix/dense.o matrix/normal_density.o matrix/covariance.o matrix/gaussian_process.o matrix/least_squares.o matrix/softmax.o scalar/copy.o): MORE_CFLAGS = $(patsubst -O2,-O3,$(filter -O2,$(CFLAGS)))
X86 := $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null))
# The same text for each width of vectors, which takes gcc 16 seconds a file: undefined behaviour is looked for in the
# narrowest, addresses are in the widest that this machine has, too.
WIDE := $(if $(findstring undefined,$(CFLAGS)),-fno-sanitize=undefined)
NOT_WIDEST := $(if $(findstring -fsanitize,$(CFLAGS)),-fno-sanitize=all)
AVX512 := $(shell grep -m 1 -o avx512vl /proc/cpuinfo 2>/dev/null)
$(B)/ops/scalar/elementwise_avx2.o $(B)/tape/function/run/interpreter_avx2.o: MORE_CFLAGS = $(if $(AVX512),$(NOT_WIDEST),$(WIDE)) $(if $(X86),-mavx2 -mfma)
$(B)/ops/scalar/elementwise_avx512.o $(B)/tape/function/run/interpreter_avx512.o: MORE_CFLAGS = $(if $(AVX512),$(WIDE),$(NOT_WIDEST)) $(if $(X86),-mavx2 -mfma -mavx512f -mavx512dq -mavx512vl)

$(B)/libsupport.a: $(SUPPORT_OBJS) $(call list,support)
	$(archive)

# The test programs of a room are one, with a name for each: to link them all takes as long as to compile
# the library. Not those with a malloc, mmap, strtod of their own.
APART := $(B)/test/test_function_locale $(B)/test/test_tape_drivers_memory $(B)/test/test_tape_steady
room = $(filter $(B)/test/test_$(1)_%,$(filter-out $(APART),$(TEST_PROGS)))
TOGETHER := $(foreach r,ops tape function,$(call room,$(r)))
# Their main() has the name of the file.
$(TOGETHER:=.o): MORE_CFLAGS = $(test_level) '-Dmain=$(notdir $*)(void); int $(notdir $*)'

define ROOM
$(call LIST,tests_$(1),$(call room,$(1)))
$(B)/test/room_$(1).o: test/room.c $(call list,tests_$(1))
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)$$(CACHE) $$(CC) $$(OUR_CPPFLAGS) $$(CPPFLAGS) $$(OUR_CFLAGS) $$(CFLAGS) '-DWG_TESTS(X)=$(patsubst $(B)/test/%,X(%),$(call room,$(1)))' -c -o $$@ $$<
$(B)/test/room_$(1): $(B)/test/room_$(1).o $(addsuffix .o,$(call room,$(1))) $(B)/libsupport.a $(LIBRARY)
	$$(link) $$(with_library) $$(CMOCKA_LIBS) $$(MATH_LIBS) $$(SYSTEM_LIBS)
$(call room,$(1)): $(B)/test/room_$(1)
	@ln -f $$< $$@
endef
$(foreach r,ops tape function,$(eval $(call ROOM,$(r))))

$(filter-out $(TOGETHER),$(TEST_PROGS)): %: %.o $(B)/libsupport.a $(LIBRARY)
	$(link) $(with_library) $(MORE_LIBS) $(CMOCKA_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)
# Tests of the tool for GradBench.
$(filter $(B)/test/test_gradbench_%,$(TEST_PROGS)): $(GRADBENCH_OBJS)
$(filter $(B)/test/test_gradbench_%,$(TEST_PROGS)): MORE_LIBS = $(JANSSON_LIBS)

# Tests of what the benches share.
$(filter $(B)/test/test_bench_%,$(TEST_PROGS)): $(BENCH_CORE)
$(filter $(B)/test/test_bench_%,$(TEST_PROGS)): MORE_LIBS = $(JANSSON_LIBS)

$(B)/test/libfuzz.a: $(FUZZ_OBJS) $(call list,fuzz)
	$(archive)

$(FUZZ_PROGS): %: %.o $(B)/test/libfuzz.a $(B)/libsupport.a $(LIBRARY)
	$(link) $(with_library) $(MORE_LIBS) $(CMOCKA_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)
# What takes any bytes has libFuzzer's main(), or that of test/fuzz/replay.c.
$(call fuzz_progs,$(FUZZ_BYTES)): MORE_LIBS = $(FUZZ_LINK)
$(if $(FUZZ_LINK),,$(call fuzz_progs,$(FUZZ_BYTES)): $(B)/test/fuzz/replay.o)

# Those with the threads of OpenMP, where the compiler has them; elsewhere they say so and end.
OPENMP = $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c - -o /dev/null 2>/dev/null && echo -fopenmp)
OPENMP_EXAMPLES := $(filter $(B)/examples/openmp_%,$(EXAMPLES))
$(OPENMP_EXAMPLES:=.o): MORE_CFLAGS = $(or $(OPENMP),-Wno-unknown-pragmas)
$(OPENMP_EXAMPLES): private LINKER = $(CC) $(CFLAGS) $(OPENMP)
# What the examples use when its header is there (__has_include): zlib.
$(EXAMPLES:=.o) $(EXAMPLE_OBJS): $(call list,examples)
$(EXAMPLES): %: %.o $(EXAMPLE_OBJS) $(LIBRARY) $(call list,examples)
	$(link) $(with_library) $(EXAMPLE_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)

# Tests of adapters fit the NIST problems, too.
$(filter $(B)/adapters/%,$(foreach p,$(ADAPTER_PROGS),$(if $(findstring /test_,$(p)),$(p)))): $(call objects,examples/nist_data.c examples/nist_models.c)

# ADAPTER NAME,ROW: its libraries, tests and examples
define ADAPTER
$(call LIST,adapter_$(1),$(call objects,$(call adapter_srcs,$(1))))
$(B)/adapters/$(1)/%.o: MORE_CPPFLAGS = -Iadapters/$(1) -Iadapters/problem $(call solver_cflags,$(2)) $(CMOCKA_CFLAGS)
$(patsubst %.c,$(B)/%.o,$(wildcard adapters/$(1)/test_*.c)): MORE_CFLAGS = $(low_level)
$(B)/libwengert-$(1).a: $(call objects,$(call adapter_srcs,$(1))) $(call list,adapter_$(1))
	$$(archive)
$(B)/libwengert-$(1).so.$(SO_NUMBER): $(call objects,$(call adapter_srcs,$(1))) $(call list,adapter_$(1)) $(B)/$(SO) $(if $(filter problem,$(1)),,$(B)/libwengert-problem.so.$(SO_NUMBER))
	$$(link) -shared -Wl,-soname,$$(@F) $(NO_UNDEFINED) $$(filter %.o,$$^) $$(filter-out %.o %.list,$$^) $(call field,5,$(2)) $$(SYSTEM_LIBS)
$(call adapter_progs,$(wildcard adapters/$(1)/*.c)): %: %.o $(B)/libwengert-$(1).a $(ALSO_$(1):%=$(B)/libwengert-%.a) $(B)/libwengert-problem.a $(B)/libsupport.a $(LIBRARY)
	$$(link) $$(with_library) $(call field,6,$(2)) $(call field,5,$(2)) $$(CMOCKA_LIBS) $$(MATH_LIBS) $$(SYSTEM_LIBS)
$(B)/wengert-$(1).pc: Makefile include/wengert/config.h FORCE
	@mkdir -p $$(@D)
	@{ echo 'prefix=$(prefix)'; \
	   echo 'libdir=$(patsubst $(prefix)/%,$$$${prefix}/%,$(libdir))'; \
	   echo; \
	   echo 'Name: wengert-$(1)'; \
	   echo 'Description: Derivatives by Wengert for $(if $(filter problem,$(1)),solvers,the solver $(1))'; \
	   echo 'Version: $(VERSION)'; \
	   echo 'Requires: $(if $(filter problem,$(1)),wengert,wengert-problem)'; \
	   echo 'Requires.private: $(call field,4,$(2))'; \
	   echo 'Libs: -L$$$${libdir} -lwengert-$(1) -lwengert $(if $(call field,4,$(2)),$(call packages,--libs-only-L,$(call field,4,$(2)))) $(call field,5,$(2))'; } > $$@
endef
$(foreach row,$(ADAPTERS_FOUND),$(eval $(call ADAPTER,$(call field,1,$(row)),$(row))))

$(eval $(call LIST,convert,$(call objects,$(CONVERT_SRCS))))
$(B)/convert/%.o: MORE_CPPFLAGS = $(if $(CLANG_DIR),-isystem $(CLANG_DIR)/include) $(CMOCKA_CFLAGS)
$(B)/convert/%.o: MORE_CFLAGS = $(TEST_LEVEL)
$(CONVERT_TESTS:=.o): MORE_CFLAGS = $(low_level)
$(B)/wengert-convert: $(call objects,$(CONVERT_SRCS)) $(call list,convert)
	$(link) $(filter %.o,$^) -L$(CLANG_DIR)/lib -Wl,-rpath,$(CLANG_DIR)/lib -lclang
# With the shared library: what they load calls it, and is kept for later runs. The converter is in them, in a process of its
# own each time it is called: to load libclang takes as long as to convert a short file.
$(B)/convert/converter_main.o: convert/main.c
	@mkdir -p $(@D)
	$(call say,CC,$@)$(CACHE) $(CC) $(OUR_CPPFLAGS) $(MORE_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) $(MORE_CFLAGS) '-Dmain=converter_main(int, char **); int converter_main' -MD -MP -c -o $@ $<
$(filter $(B)/convert/%,$(CONVERT_TESTS)): %: %.o $(B)/convert/converter_main.o $(call objects,$(filter-out convert/main.c,$(CONVERT_SRCS))) $(B)/libsupport.a $(B)/$(SO) $(call list,convert)
	$(link) $(GOLD) $(filter %.o %.a %.so.$(SO_NUMBER),$^) $(BESIDE) -L$(CLANG_DIR)/lib -Wl,-rpath,$(CLANG_DIR)/lib -lclang $(CMOCKA_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)

# ---- benches --------------------------------------------------------------------------------
# The peers. One is measured when its headers are there: name (of its file in bench/peers/), bench
# that measures it (with bench: evals, too), headers, Debian package, libraries, flags; - is nothing. Others are compiled
# elsewhere and named (the first is this library's own C++): MORE_PEERS='one two' MORE_PEER_LIBS='one.o two.o libtwo.a'.

PEERS := \
    active:bench:wengert/active.hpp:-:-:-Iinclude \
    adolc:bench:adolc/adolc.h:libadolc-dev:-ladolc:- \
    adolc_kept:bench:adolc/adolc.h:libadolc-dev:-:- \
    sacado:bench:Sacado_trad.hpp:libtrilinos-sacado-dev,libtrilinos-kokkos-dev:-:-isystem/usr/include/trilinos \
    sacado_fad:bench:Sacado_trad.hpp:libtrilinos-sacado-dev,libtrilinos-kokkos-dev:-:-isystem/usr/include/trilinos \
    ceres:bench:ceres/jet.h:libceres-dev:-:-isystem/usr/include/eigen3 \
    eigen:bench:Eigen/Core,unsupported/Eigen/AutoDiff:libeigen3-dev:-:-isystem/usr/include/eigen3 \
    adolc_sparse:sparsity:adolc/adolc_sparse.h,ColPack/ColPackHeaders.h:libadolc-dev,libcolpack-dev:-ladolc,-lColPack:- \
    torch:matrix:torch/version.h:libtorch-dev:-ltorch,-ltorch_cpu,-lc10:-isystem/usr/include/torch/csrc/api/include \
    torch_second:second:torch/version.h:libtorch-dev:-ltorch,-ltorch_cpu,-lc10:-isystem/usr/include/torch/csrc/api/include

peer_found = $(shell $(CXX) $(PEER_FLAGS) $(CPPFLAGS) $(call field,6,$(1)) $(addprefix -include ,$(call field,3,$(1))) -fsyntax-only -x c++ /dev/null 2>/dev/null && echo $(1))
ifneq ($(filter run bench bench-report $(BENCHES),$(MAKECMDGOALS)),)
PEERS_FOUND := $(foreach row,$(PEERS),$(call peer_found,$(row)))
endif
# peers BENCH,ROWS: the rows of that bench; names: their names
peers = $(strip $(foreach row,$(2),$(if $(filter $(1),$(call field,2,$(row))),$(row))))
names = $(foreach row,$(1),$(call field,1,$(row)))
BENCH_PEERS := $(call peers,bench,$(PEERS_FOUND))
MATRIX_PEERS := $(call peers,matrix,$(PEERS_FOUND))
SECOND_PEERS := $(call peers,second,$(PEERS_FOUND))
SPARSITY_PEERS := $(call peers,sparsity,$(PEERS_FOUND))
PEER_DEFS := '-DWG_BENCH_PEERS(X)=$(foreach p,$(MORE_PEERS) $(call names,$(BENCH_PEERS)),X($(p)))' \
    '-DWG_BENCH_ABSENT=$(foreach row,$(filter-out $(PEERS_FOUND),$(call peers,bench,$(PEERS))),"$(call field,1,$(row)) (Debian: $(call field,4,$(row)))",)' \
    $(if $(MATRIX_PEERS),-DWG_HAVE_TORCH) $(if $(SPARSITY_PEERS),-DWG_HAVE_ADOLC_SPARSE)
peer_objs = $(patsubst %,$(B)/bench/peers/%.o,$(call names,$(1)))
peer_libs = $(foreach row,$(1),$(call field,5,$(row)))
$(foreach row,$(PEERS),$(eval $(B)/bench/peers/$(call field,1,$(row)).o: PEER_CPPFLAGS = $(call field,6,$(row))))

$(eval $(call LIST,bench,$(BENCH_OBJS)))
$(eval $(call LIST,peers,$(PEERS_FOUND) $(MORE_PEERS)))
$(eval $(call LIST,commit,$(COMMIT)))
$(eval $(call LIST,gradbench,$(GRADBENCH_OBJS)))
$(B)/bench/%.o: MORE_CFLAGS = $(BENCH_FLAGS)
$(B)/bench/%.o: MORE_CPPFLAGS = $(MATH_CFLAGS) $(JANSSON_CFLAGS) $(PEER_CPPFLAGS)
$(B)/bench/peers/%.o: OUR_CXXFLAGS =
$(B)/bench/peers/%.o: MORE_CXXFLAGS = $(PEER_FLAGS)
$(B)/bench/report.o: MORE_CPPFLAGS += \
    -DWG_BENCH_COMMIT='"$(COMMIT)"' -DWG_BENCH_FLAGS='"-std=c11 -ffp-contract=off $(BENCH_FLAGS); library: $(CFLAGS)"'
$(B)/bench/report.o: $(call list,commit)
$(B)/bench/peers/peers.o $(B)/bench/matrix.o $(B)/bench/second_order.o $(B)/bench/sparsity.o: MORE_CPPFLAGS += $(PEER_DEFS)
$(B)/bench/peers/peers.o $(B)/bench/matrix.o $(B)/bench/second_order.o $(B)/bench/sparsity.o: $(call list,peers)

BENCH_LINK = $(link) $(filter %.o,$^) $(filter %.a,$^) $(MORE_LIBS) $(JANSSON_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)
# The tapes' and the matrices' have peers in C++.
WITH_PEERS := $(B)/bench/bench $(B)/bench/evals
$(WITH_PEERS): LINKER = $(if $(BENCH_PEERS)$(MORE_PEERS),$(CXX) $(CXXFLAGS),$(CC) $(CFLAGS))
$(WITH_PEERS): MORE_LIBS = $(call peer_libs,$(BENCH_PEERS)) $(MORE_PEER_LIBS)
$(WITH_PEERS): $(call peer_objs,$(BENCH_PEERS)) $(B)/bench/peers/peers.o $(call list,peers)
$(B)/bench/matrix: LINKER = $(if $(MATRIX_PEERS),$(CXX) $(CXXFLAGS),$(CC) $(CFLAGS))
$(B)/bench/matrix: MORE_LIBS = $(call peer_libs,$(MATRIX_PEERS))
$(B)/bench/matrix: $(call peer_objs,$(MATRIX_PEERS)) $(call list,peers)
$(B)/bench/second_order: LINKER = $(if $(SECOND_PEERS),$(CXX) $(CXXFLAGS),$(CC) $(CFLAGS))
$(B)/bench/second_order: MORE_LIBS = $(call peer_libs,$(SECOND_PEERS))
$(B)/bench/second_order: $(call peer_objs,$(SECOND_PEERS)) $(call list,peers)
$(B)/bench/sparsity: LINKER = $(if $(SPARSITY_PEERS),$(CXX) $(CXXFLAGS),$(CC) $(CFLAGS))
$(B)/bench/sparsity: MORE_LIBS = $(call peer_libs,$(SPARSITY_PEERS))
$(B)/bench/sparsity: $(call peer_objs,$(SPARSITY_PEERS)) $(call list,peers)
# The evals are those of the tool.
$(B)/bench/evals: $(BENCH_CORE) $(B)/bench/workloads.o $(B)/bench/check.o $(B)/bench/evals_input.o $(B)/bench/evals_case.o $(GRADBENCH_OBJS) $(call list,gradbench)
$(filter-out $(B)/bench/evals,$(BENCHES)): $(filter-out $(B)/bench/peers/peers.o,$(BENCH_OBJS)) $(call list,bench)
$(BENCHES): %: %.o $(B)/libwengert.a
	$(BENCH_LINK)
$(B)/bench/page: $(B)/bench/page_plot.o
$(BENCH_TOOLS): %: %.o $(B)/bench/report.o
	$(link) $(filter %.o,$^) $(JANSSON_LIBS) -lm

$(B)/bench/gradbench/%.o: MORE_CPPFLAGS = $(MATH_CFLAGS) $(JANSSON_CFLAGS)
$(GRADBENCH): %: %.o $(GRADBENCH_OBJS) $(B)/libwengert.a $(call list,gradbench)
	$(link) $(filter %.o %.a,$^) $(JANSSON_LIBS) $(MATH_LIBS) $(SYSTEM_LIBS)

# ---- installing -----------------------------------------------------------------------------

HEADERS := $(wildcard include/wengert/*)
# The texts stand beside each other as they do here: they link each other.
DOCS := README.md CONTRIBUTING.md CHANGELOG.md LICENSE ops/operations.md $(wildcard doc/*.md)

cmakedir = $(libdir)/cmake/wengert
docdir = $(prefix)/share/doc/wengert

install: lib $(adapter_libs) $(CONVERT) $(B)/wengert-config.cmake ## into $(DESTDIR)$(prefix)
	install -d '$(DESTDIR)$(libdir)' '$(DESTDIR)$(pkgconfigdir)' '$(DESTDIR)$(cmakedir)' '$(DESTDIR)$(includedir)/wengert' '$(DESTDIR)$(docdir)/doc' '$(DESTDIR)$(docdir)/ops'
	$(foreach f,$(DOCS),install -m 644 $(f) '$(DESTDIR)$(docdir)/$(f)' &&) true
	install -m 644 include/wengert.h include/wengert-gdb.py '$(DESTDIR)$(includedir)/'
	$(if $(CONVERT),install -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(mandir)/man1' && install -m 755 $(CONVERT) convert/wengert-cc '$(DESTDIR)$(bindir)/' && \
	    install -m 644 convert/wengert-convert.1 convert/wengert-cc.1 '$(DESTDIR)$(mandir)/man1/')
	install -m 644 $(HEADERS) '$(DESTDIR)$(includedir)/wengert/'
	install -m 644 $(B)/libwengert.a '$(DESTDIR)$(libdir)/'
	install -m 755 $(B)/$(SO) '$(DESTDIR)$(libdir)/libwengert.so.$(VERSION)'
	ln -sf libwengert.so.$(VERSION) '$(DESTDIR)$(libdir)/$(SO)'
	ln -sf $(SO) '$(DESTDIR)$(libdir)/libwengert.so'
	install -m 644 $(B)/wengert.pc '$(DESTDIR)$(pkgconfigdir)/'
	install -m 644 $(B)/wengert-config.cmake $(B)/wengert-config-version.cmake '$(DESTDIR)$(cmakedir)/'
	$(foreach n,$(ADAPTER_NAMES),install -m 644 adapters/$(n)/wengert/*.h '$(DESTDIR)$(includedir)/wengert/' && \
	    install -m 644 $(B)/libwengert-$(n).a '$(DESTDIR)$(libdir)/' && \
	    install -m 755 $(B)/libwengert-$(n).so.$(SO_NUMBER) '$(DESTDIR)$(libdir)/libwengert-$(n).so.$(VERSION)' && \
	    ln -sf libwengert-$(n).so.$(VERSION) '$(DESTDIR)$(libdir)/libwengert-$(n).so.$(SO_NUMBER)' && \
	    ln -sf libwengert-$(n).so.$(SO_NUMBER) '$(DESTDIR)$(libdir)/libwengert-$(n).so' && \
	    install -m 644 $(B)/wengert-$(n).pc '$(DESTDIR)$(pkgconfigdir)/' &&) true

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(includedir)/wengert.h' '$(DESTDIR)$(includedir)/wengert-gdb.py' $(foreach h,$(notdir $(HEADERS)),'$(DESTDIR)$(includedir)/wengert/$(h)')
	rm -f $(foreach f,libwengert.a libwengert.so $(SO) libwengert.so.$(VERSION),'$(DESTDIR)$(libdir)/$(f)')
	rm -f '$(DESTDIR)$(bindir)/wengert-convert' '$(DESTDIR)$(bindir)/wengert-cc' '$(DESTDIR)$(mandir)/man1/wengert-convert.1' '$(DESTDIR)$(mandir)/man1/wengert-cc.1'
	$(foreach n,$(foreach row,$(ADAPTERS),$(call field,1,$(row))),rm -f $(patsubst adapters/$(n)/%,'$(DESTDIR)$(includedir)/%',$(wildcard adapters/$(n)/wengert/*.h)) \
	    '$(DESTDIR)$(libdir)/libwengert-$(n).a' $(foreach v,.so .so.$(SO_NUMBER) .so.$(VERSION),'$(DESTDIR)$(libdir)/libwengert-$(n)$(v)') '$(DESTDIR)$(pkgconfigdir)/wengert-$(n).pc' &&) true
	rm -f '$(DESTDIR)$(pkgconfigdir)/wengert.pc' '$(DESTDIR)$(cmakedir)/wengert-config.cmake' '$(DESTDIR)$(cmakedir)/wengert-config-version.cmake'
	rm -f $(foreach f,$(DOCS),'$(DESTDIR)$(docdir)/$(f)')
	-rmdir '$(DESTDIR)$(includedir)/wengert' '$(DESTDIR)$(cmakedir)' '$(DESTDIR)$(docdir)/doc' '$(DESTDIR)$(docdir)/ops' '$(DESTDIR)$(docdir)' 2>/dev/null

# ---- instruments ----------------------------------------------------------------------------
# The scripts look at an ordinary build; an instrumented one would only tell about the instrument.

again = +@$(MAKE) --no-print-directory
LEVEL ?= -O1
SANITIZE = -g1 $(LEVEL) -fvisibility=default -fno-semantic-interposition -fno-omit-frame-pointer \
    -fno-sanitize-recover=all

# NULL and the sizes of objects are what the address sanitizer looks at, too.
asan: ## the tests under the address, leak and undefined-behaviour sanitizers
	$(again) test SCRIPTS= BENCH_FLAGS= CFLAGS='$(SANITIZE) -fsanitize=address,undefined -fno-sanitize=null,object-size'

ubsan: LEVEL = -O2
ubsan: ## the tests under the undefined-behaviour sanitizer, optimised
	$(again) test SCRIPTS= BENCH_FLAGS= CFLAGS='$(SANITIZE) -fsanitize=undefined'

valgrind: ## VALGRIND_TESTS=test_tape_* under valgrind
	$(again) test T='$(VALGRIND_TESTS)' SCRIPTS= CFLAGS='-g -O1' \
	    WRAP='valgrind -q --error-exitcode=9 --leak-check=full'

coverage: ## lines and branches of ops/ and tape/ that the tests reach
	$(again) coverage-report CC=gcc SCRIPTS= CFLAGS='-g -O0 --coverage'

coverage-report: programs
	@find $(B) -name '*.gcda' -delete
	@B='$(B)' TEST_TIMEOUT='$(TEST_TIMEOUT)' TEST_JOBS='$(TEST_JOBS)' sh test/run $(TEST_PROGS) $(FUZZ_PROGS) $(EXAMPLE_TESTS)
	@cd $(B) && for o in $(patsubst $(B)/%,%,$(LIB_OBJS)); do gcov -n -b -s ../.. $$o 2>/dev/null; done | awk '\
	    /^File/ { f = $$2; gsub("\x27", "", f); sub(/^.*\/build\/[0-9]*\//, "", f); keep = f ~ /^(ops|tape)\// } \
	    keep && /^Lines/ { split($$2, a, ":"); n = $$4; if (!(f in l) || a[2] + 0 > l[f] + 0) l[f] = a[2]; size[f] = n } \
	    keep && /^Taken/ { split($$4, a, ":"); split($$0, c, ":"); b[f] = c[2] } \
	    END { printf "%-28s %8s %8s  %s\n", "file", "lines", "reached", "branches taken"; \
	          for (f in l) printf "%-28s %8d %8s  %s\n", f, size[f], l[f], b[f] | "sort" }'

fuzz: ## SECONDS=60 of each generator in test/fuzz/, T=NAME: of one
	$(again) fuzz-run FUZZ_RUN='$(call fuzz_progs,$(FUZZ_MAINS))'
	@[ -z '$(call fuzz_progs,$(FUZZ_BYTES))' ] || $(MAKE) --no-print-directory fuzz-bytes

fuzz-asan: ## the same under the address and undefined-behaviour sanitizers
	$(again) fuzz CFLAGS='$(SANITIZE) -fsanitize=address,undefined' OPENBLAS_NUM_THREADS=1

# Any bytes, by libFuzzer.
fuzz-bytes:
	@mkdir -p build; if echo 'int LLVMFuzzerTestOneInput(const char *, long); int LLVMFuzzerTestOneInput(const char *p, long n) { return !p && n; }' | \
	    clang -x c -fsanitize=fuzzer,address - -o build/probe 2>/dev/null; then rm build/probe; \
	    $(MAKE) --no-print-directory fuzz-run CC=clang FUZZ_RUN='$$(call fuzz_progs,$$(FUZZ_BYTES))' FUZZ_LINK=-fsanitize=fuzzer \
	        CFLAGS='-g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all'; \
	else echo 'fuzz: needs clang with libFuzzer (apt-get install clang libclang-rt-dev)' >&2; exit 1; fi

# All take these options of libFuzzer; what follows are folders of known inputs.
fuzz-run: $(FUZZ_RUN)
	@for p in $(FUZZ_RUN); do \
	    n=fuzz_$${p##*/}; mkdir -p $(B)/corpus/$$n; known=; [ ! -d test/data/$$n ] || known=test/data/$$n; \
	    echo "== $$n"; CC='$(CC)' $$p -max_total_time=$(SECONDS) -print_final_stats=1 -artifact_prefix=$(B)/$$n- \
	        $(B)/corpus/$$n $$known || { echo "a finding: move $(B)/$$n-* to test/data/$$n/"; exit 1; }; \
	done

TIDY := -*,clang-analyzer-*,bugprone-*,performance-*,cert-err34-c,misc-redundant-expression
# Not: advice for Annex K, and against what the table, series and lists of this house are made of.
TIDY := $(TIDY),-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling
TIDY := $(TIDY),-bugprone-easily-swappable-parameters,-bugprone-macro-parentheses,-bugprone-sizeof-expression
TIDY := $(TIDY),-clang-analyzer-security.FloatLoopCounter,-bugprone-reserved-identifier,-bugprone-implicit-widening-of-multiplication-result
TIDY := $(TIDY),-bugprone-suspicious-memory-comparison,-performance-no-int-to-ptr

analyze: ## what clang-tidy and cppcheck say, where installed, otherwise gcc -fanalyzer
	@if command -v clang-tidy >/dev/null; then s=0; for f in $(LIB_SRCS); do \
	    clang-tidy --quiet --checks='$(TIDY)' $$f -- -std=c11 \
	        $(OUR_CPPFLAGS) $(MATH_CFLAGS) $(CPPFLAGS) 2>/dev/null || s=1; done; exit $$s; \
	else for f in $(LIB_SRCS); do \
	    gcc -fanalyzer -O1 -c -o /dev/null $(OUR_CPPFLAGS) $(MATH_CFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $$f || exit 1; done; fi
	@if command -v cppcheck >/dev/null; then \
	    cppcheck -q --std=c11 --enable=warning,performance,portability \
	        --inline-suppr --suppress=missingIncludeSystem --suppress=unknownMacro -Iinclude -I. $(LIB_SRCS); fi

# ---- derived files --------------------------------------------------------------------------

# what the generator calls it : the file
GENERATED := $(subst :,:include/wengert/,scalar:scalar.h let:let.h lists:statement_lists.h dual:dual_ops.h elementwise:elementwise_ops.h generic_double:generic_double.h \
    generic_dual:generic_dual.h generic_tape:generic_tape.h cxx:scalar.hpp) operations:ops/operations.md special_text:ops/scalar/special_text.h dense_text:ops/matrix/dense_text.h

$(B)/ops/scalar/generate: $(B)/ops/scalar/generate.o $(B)/ops/scalar/generate_text.o
	$(link) $^ -lm

generate: $(B)/ops/scalar/generate ## expand ops/scalar/scalar.def into include/wengert/ and ops/operations.md
	@for w in $(GENERATED); do \
	    $< $${w%:*} > $(B)/generated && { cmp -s $(B)/generated $${w#*:} || \
	    cp $(B)/generated $${w#*:}; } || exit 1; done
	@sh ops/matrix/generate_operand.sh > $(B)/generated && { cmp -s $(B)/generated include/wengert/operand.h || \
	    cp $(B)/generated include/wengert/operand.h; }

abi: $(B)/$(SO) ## write the exported symbols to test/abi.txt
	sh test/abi.sh --write $<

format: ## clang-format over every .c and .h that is not generated
	clang-format -i $(filter-out $(foreach w,$(GENERATED),$(lastword $(subst :, ,$(w)))),$(shell find include ops tape test examples bench adapters -name '*.[ch]' -o -name '*.[ch]pp'))

FORCE:
.PHONY: help run test test-house programs bench bench-mpi bench-report compare gradbench examples lib deps deps-sparse deps-cxx deps-solvers deps-mpi deps-convert deps-tests adapters convert clean install uninstall asan ubsan valgrind coverage \
    coverage-report fuzz fuzz-asan fuzz-bytes fuzz-run analyze generate abi format FORCE
.SECONDARY:

-include $(shell find $(B) -name '*.d' 2>/dev/null)
