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

# NVRTC 13.0 compiled kernels and device functions of all these names. Some are functions of CUDA as
# well, which an overload does not hide, or of our headers for NVRTC: include/PyGPU/host/prelude.h
# has these functions under their new names too.
_WORDS = """
a64l abort aligned_alloc alloca arc4random asctime asprintf atexit atof atoi atol atoll bcmp bcopy
bsearch bzero calloc clearenv clearerr clock clock_getres clock_gettime clock_settime ctermid ctime
cuserid daylight difftime div dprintf drand48 drem dremf dysize ecvt erand48 exit fadd fclose fcvt
fdiv fdopen feof ferror fflush ffma ffs ffsl ffsll fgetc fgetpos fgets fileno finite finitef fopen
fprintf fputc fputs fread freopen fscanf fseek fseeko fsetpos fsqrt fsub ftell ftello fwrite gamma
gammaf gcvt getc getchar getdate getdelim getenv getline getloadavg getpt getsubopt getw gmtime
initstate isinff isnanf jrand48 l64a lcong48 ldiv lldiv llogb llogbf localtime lrand48 mblen
mbstowcs mbtowc memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdtemp
mkstemp mktemp mktime mrand48 nanosleep nrand48 pclose perror popen pselect putc putchar putenv puts
putw qsort quick_exit rand rand_r random random_r realloc realpath remove rename rewind roundeven
roundevenf rpmatch scalb scalbf scanf seed48 select setbuf setbuffer setenv setlinebuf setstate
setvbuf signgam significand significandf snprintf sprintf srand srand48 srandom sscanf stpcpy
strcasecmp strcat strchr strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat
strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep strsignal strspn strstr strtod
strtof strtok strtol strtold strtoll strtoul strtoull strxfrm system tempnam time timegm timelocal
timezone tmpfile tmpnam tzname tzset ungetc unsetenv valloc vprintf vscanf vsnprintf vsprintf
vsscanf wcstombs wctomb index rindex
caddr_t daddr_t dev_t div_t fd_set fpos_t gid_t id_t ino_t key_t ldiv_t lldiv_t locale_t mode_t
nlink_t pid_t quad_t register_t timer_t uid_t timespec timeval tm
BIG_ENDIAN BYTE_ORDER CHAR_WIDTH FE_DOWNWARD FE_TONEAREST FE_TOWARDZERO FE_UPWARD INT_WIDTH LINE_MAX
LITTLE_ENDIAN LONG_BIT LONG_WIDTH NAME_MAX NZERO PIPE_BUF SEEK_CUR SEEK_END SEEK_SET TMP_MAX
WORD_BIT
"""
NAMES = tuple(re.findall(r"\w+", _WORDS))
_NAME = "|".join(sorted(NAMES, key=len, reverse=True))
# Words after which a function of the library is used, not declared.
_USE = "return|else|case|goto|new|delete|throw|do|sizeof|operator|not|and|or"
# A declared name follows a type or the start of a declarator; a variable or an enumerator may also
# follow another one.
_DECLARED = (
    rf"(?:\b(?!(?:{_USE})\b)[A-Za-z_]\w*\s+|(?:[*&\]}}]|(?<!-)>)\s*)({_NAME})(?=\s*[\[(;=,:{{}})])"
    rf"|[{{,]\s*({_NAME})(?=\s*[\[;=,{{}}])"
).encode()


def declared(texts: Iterable[bytes]) -> list[str]:
    """Return the names of the library that the texts, without comments, seem to declare.

    A name that is only used may be among them: in a kernel for a GPU, no use of it could mean the
    library's function.
    """
    found = {
        (match[1] or match[2]).decode() for text in texts for match in re.finditer(_DECLARED, text)
    }
    return sorted(found)


def renaming(names: Iterable[str]) -> str:
    """Return the directives that rename the names in the text that follows."""
    return "".join(f"#undef {name}\n#define {name} {PREFIX}{name}\n" for name in names)


def without_renaming(names: Iterable[str]) -> str:
    """Return the directives that end the renaming."""
    return "".join(f"#undef {name}\n" for name in names)


def original(log: str) -> str:
    """Return the messages of a compiler with the program's names."""
    return log.replace(PREFIX, "")
