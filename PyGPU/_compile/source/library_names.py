"""Names of the C library that belong to the program, because NVIDIA's compiler does not have them.

Our header for kernels of the ``host`` target includes the C library, which declares functions such
as ``div`` and ``time``. NVRTC declares none of these names, so a kernel, a function, a variable or
a type of a program may have them. A text that declares such a name is compiled with a macro that
renames all its uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Prefix of renamed names. src/host/library.cpp finds variables by it.
PREFIX = "PyGPU_own_"

# Names that prelude.h declares with glibc 2.36 (clang++ -Xclang -ast-dump=json) or a newer one, of
# which NVRTC 13.0 compiled kernels, functions, variables and types; without functions of _Float32
# and the like, and most constants. Some are functions of CUDA as well, which an overload does not
# hide, or of our headers for NVRTC and HIP: prelude.h has these under their new names too.
_WORDS = """
FILE a64l abort acoshl acosl acospi acospif aligned_alloc alloca arc4random arc4random_buf
arc4random_uniform asctime asctime_r asinhl asinl asinpi asinpif asprintf assert_perror
at_quick_exit atan2l atan2pi atan2pif atanhl atanl atanpi atanpif atexit atof atoi atol atoll
basename bcmp bcopy blkcnt64_t blkcnt_t blksize_t bsearch bzero caddr_t calloc canonicalize
canonicalize_file_name canonicalizef canonicalizel cbrtl ceill clearenv clearerr clock clock_adjtime
clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clockid_t
comparison_fn_t compoundn compoundnf copysignl coshl cosl ctermid ctime ctime_r cuserid daddl
daddr_t daylight ddivl dev_t dfmal difftime div div_t dmull dprintf drand48 drand48_data drand48_r
drem dremf dreml dsqrtl dsubl dysize ecvt ecvt_r erand48 erand48_r erfcl erfl exit exp10l exp10m1
exp10m1f exp2l exp2m1 exp2m1f expl explicit_bzero expm1l fabsl fadd faddl fclose fcloseall fcvt
fcvt_r fd_mask fd_set fdiml fdiv fdivl fdopen feclearexcept fedisableexcept feenableexcept fegetenv
fegetexcept fegetexceptflag fegetmode fegetround feholdexcept femode_t fenv_t feof feraiseexcept
ferror fesetenv fesetexcept fesetexceptflag fesetmode fesetround fetestexcept fetestexceptflag
feupdateenv fexcept_t fflush ffma ffmal ffs ffsl ffsll fgetc fgetpos fgetpos64 fgets fileno finite
finitef finitel flockfile floorl fmal fmaxl fmaxmag fmaxmagf fmaxmagl fmemopen fminl fminmag
fminmagf fminmagl fmodl fmul fmull fopen fopen64 fopencookie fpclassify fpos64_t fpos_t fprintf
fputc fputs fread free_aligned_sized free_sized freopen freopen64 frexpl fsblkcnt64_t fsblkcnt_t
fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fsfilcnt64_t fsfilcnt_t fsid_t fsqrt fsqrtl fsub
fsubl ftell ftello ftello64 ftrylockfile funlockfile fwrite gamma gammaf gammal gcvt getc getchar
getdate getdate_err getdate_r getdelim getenv getline getloadavg getpt getsubopt getw gid_t gmtime
gmtime_r grantpt hypotl id_t ilogbl index initstate initstate_r ino64_t ino_t iscanonical iseqsig
isgreater isgreaterequal isinff isinfl isless islessequal islessgreater isnanf isnanl isnormal
issignaling issubnormal isunordered iszero itimerspec j0l j1l jnl jrand48 jrand48_r key_t l64a
lcong48 lcong48_r ldexpl ldiv ldiv_t lgamma_r lgammaf_r lgammal lgammal_r lldiv lldiv_t llogb llogbf
llogbl llrintl llroundl locale_t localtime localtime_r loff_t log10l log10p1 log10p1f log1pl log2l
log2p1 log2p1f logbl logl logp1 logp1f lrand48 lrand48_r lrintl lroundl math_errhandling mblen
mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset
memset_explicit mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps
mkstemps64 mktemp mktime mode_t modfl mrand48 mrand48_r mul24 mulhi nanl nanosleep nearbyintl
nextafterl nextdown nextdownf nextdownl nexttoward nexttowardf nexttowardl nextup nextupf nextupl
nlink_t nrand48 nrand48_r obstack off64_t on_exit open_memstream pclose perror pid_t popen
posix_memalign posix_openpt powl pown pownf powr powrf pselect ptsname ptsname_r putc putchar putenv
puts putw qecvt qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit rand rand_r random
random_data random_r rawmemchr realloc reallocarray realpath register_t remainderl remove remquol
rename renameat renameat2 rewind rindex rintl rootn rootnf roundeven roundevenf roundevenl roundl
rpmatch scalb scalbf scalbl scalblnl scalbnl scanf secure_getenv seed48 seed48_r select setbuf
setbuffer setenv setlinebuf setstate setstate_r setvbuf sigabbrev_np sigdescr_np sigevent signgam
significand significandf significandl sincosl sinhl sinl snprintf sprintf sqrtl srand srand48
srand48_r srandom srandom_r sscanf stderr stdin stdout stpcpy stpncpy strcasecmp strcasecmp_l
strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strdupa strerror
strerror_l strerror_r strerrordesc_np strerrorname_np strfromd strfromf strfroml strfry strftime
strftime_l strlcat strlcpy strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strndupa
strnlen strpbrk strptime strptime_l strrchr strsep strsignal strspn strstr strtod strtod_l strtof
strtof_l strtok strtok_r strtol strtol_l strtold strtold_l strtoll strtoll_l strtoq strtoul
strtoul_l strtoull strtoull_l strtouq strverscmp strxfrm strxfrm_l suseconds_t system tanhl tanl
tanpi tanpif tempnam tgammal time timegm timelocal timespec timespec_get timespec_getres timeval
timex timezone tm tmpfile tmpfile64 tmpnam tmpnam_r truncl tzname tzset u_int16_t u_int32_t
u_int64_t u_int8_t u_quad_t uabs uid_t ulabs ullabs umul24 umulhi ungetc unlockpt unsetenv
useconds_t valloc vasprintf vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
wall_clock64 wcstombs wctomb y0l y1l ynl BIG_ENDIAN BYTE_ORDER CHAR_WIDTH FE_DOWNWARD FE_TONEAREST
FE_TOWARDZERO FE_UPWARD INT_WIDTH LINE_MAX LITTLE_ENDIAN LONG_BIT LONG_WIDTH NAME_MAX NZERO PIPE_BUF
SEEK_CUR SEEK_END SEEK_SET TMP_MAX WORD_BIT
"""
NAMES = tuple(_WORDS.split())
_FAMILIES = (
    r"\w+_unlocked|(?:pthread|cookie|timer|obstack)_\w+|f(?:max|min)imum\w*|u?fromfpx?[fl]?"
    r"|[gs]etpayload\w*|totalorder\w*|[bl]e(?:16|32|64)toh|hto[bl]e(?:16|32|64)"
)
# Words after which a function of the library is used, not declared.
_USE = frozenset(
    ("return", "else", "case", "goto", "new", "delete", "throw", "do", "sizeof", "operator")
    + ("not", "and", "or")
)


def declared(texts: Iterable[bytes]) -> list[str]:
    """Return the names of the library that the texts seem to declare, also in macros.

    A declared name follows a type or the start of a declarator; a variable or an enumerator may
    also follow another one. A name that is only used may be among them: in a kernel for a GPU, no
    use of it could mean the library's function.
    """
    from PyGPU._compile.source import declarations

    found = set()
    for text in texts:
        tokens = declarations.source(text.decode("utf-8", "replace")).tokens
        words = set(tokens)
        names = words.intersection(NAMES) | {one for one in words if re.fullmatch(_FAMILIES, one)}
        for before, name, after in zip(tokens, tokens[1:], tokens[2:]):
            if name not in names or name in found:
                continue
            is_typed = before in "*]}&>" or (before.isidentifier() and before not in _USE)
            if (is_typed and after[0] in "[(;=,:{})") or (before in "{," and after in "[;=,{}"):
                found.add(name)
    return sorted(found)


def renaming(names: Iterable[str]) -> str:
    """Return the directives that rename the names in the text that follows."""
    return "".join(f"#undef {name}\n#define {name} {PREFIX}{name}\n" for name in names)


def without_renaming(names: Iterable[str]) -> str:
    """Return the directives that end the renaming."""
    return "".join(f"#undef {name}\n" for name in names)
