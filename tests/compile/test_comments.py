"""Comments, literals and numbers of kernel text, and what goes by them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from PyGPU import gpuarray
from PyGPU._compile.source import comments
from PyGPU._compile.source.wrapping import wrap_extern_c
from PyGPU.compiler import SourceModule

no_device = pytest.mark.no_device

# Runs of blanks as one.
BLANKED = {
    "a // b\nc": "a \nc",
    "a // b \\\n b\nc": "a \n \nc",
    "a // b \\ \r\nb\nc": "a \n \nc",
    "a // b \\n\nc": "a \nc",
    "a /* b\nb */ c": "a \n c",
    "a / b /* c": "a / b ",
    '"a // b" c': '" " c',
    r'"a \" b" c': '" " c',
    "'\"' a \"'\" b": "' ' a \" \" b",
    r"'\'' a '\\' b": "' ' a ' ' b",
    "L'a' + u'b' + U'c' + u8'd'": "L' ' + u' ' + U' ' + u8' '",
    "10'000 + 20'000": "10'000 + 20'000",
    "0xdead'beef + 'a'": "0xdead'beef + ' '",
    "1'0.0'1e+1'0f + 'a'": "1'0.0'1e+1'0f + ' '",
    "case'a': case'\"': b": "case' ': case' ': b",
    "x1'a'": "x1' '",
    'R"(a " b)" c': 'R" " c',
    'R"x(a )" b)x" c': 'R" " c',
    'u8R"(a\nb)" LR"(c)" R"(d)" a': 'u8R" \n " LR" " R" " a',
    'FOR"(a" b': 'FOR" " b',
    "#if 0\ndon't // {\n#endif": "#if 0\ndon' \n#endif",
    '"a\nb"c"': '" \nb" "',
}


@no_device
@pytest.mark.parametrize("text", BLANKED)
def test_blanked(text):
    assert re.sub(" +", " ", comments.blanked(text)) == BLANKED[text]


WITHOUT = {
    "a// b\nc /* d\n */ e": "a \nc   e",
    "'\"' // \"": "'\"'  ",
    "\"//\" '/*' // a": "\"//\" '/*'  ",
    'R"(//")" /* a */': 'R"(//")"  ',
    "1'0 // '": "1'0  ",
}


@no_device
@pytest.mark.parametrize("text", WITHOUT)
def test_without_comments(text):
    assert comments.without_comments(text.encode()).decode() == WITHOUT[text]


@no_device
@given(st.text(alphabet="_abR8 (){};,*/\"'\\#\n1x.", max_size=60))
def test_every_place_stays(text):
    found = comments.blanked(text)
    assert len(found) == len(text)
    assert all(new in (old, " ") for new, old in zip(found, text))
    assert found.count("\n") == text.count("\n")
    assert comments.blanked(found).count("\n") == text.count("\n")


PIECES = [
    *(
        "// it's {\n",
        '/* " */',
        '"{ // "',
        "'{'",
        "'\\''",
        "1'000",
        "0x1'fp-1'0",
        'R"(")"',
        "u8'}'",
    ),
    *('LR"a(\')a"', "// \\\n {\n", "'\"'", "a / b", "x", "{}", "+", "\n"),
]


@no_device
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_pieces_do_not_disturb_each_other(pieces):
    assert comments.blanked(" ".join(pieces)) == " ".join(map(comments.blanked, pieces))


@no_device
@pytest.mark.parametrize("piece", ["/*", "//", '"', "'", 'R"(', "1'", "\\", "/", '"\\\n'])
def test_time_is_linear(piece):
    """Minutes, where every mark is looked for up to the end of the text."""
    text = piece * 100_000
    assert len(comments.blanked(text)) == len(text)


BODIES = [
    "int a = 1'000;",
    "char a = '\"';",
    "/* { */ int a;",
    "/* a\n { */ int a;",
    "// a \\\n {\nint a;",
    'const char *a = R"(\n{ ")";',
    "int f(char a) { return a == '{' ? 10'000 : 20'0; }",
]


@no_device
@pytest.mark.parametrize("body", BODIES)
def test_an_include_is_outside_of_braces(body):
    found = wrap_extern_c(f'{body}\n#include "x.h"\n')
    assert "}\n#line" in found and '\n#include "x.h"\nextern "C" {' in found


@no_device
def test_an_include_in_a_comment_is_none():
    source = '/*\n#include "x.h"\n*/'
    assert wrap_extern_c(source) == f'extern "C" {{\n#line 1\n{source}\n}}\n'


SEPARATORS = r"""
__global__ void first(int *o) { if (o) { o[0] = 10'000; } o[1] = 20'000; /* ' { */ }
#include <stdint.h>
extern __shared__ float s[];
__global__ void second(float *o, int32_t n)
{
    s[threadIdx.x] = n * 1'0.5f;
    __syncthreads();
    o[threadIdx.x] = s[n - 1 - threadIdx.x] + ('"' == '\"');
}
"""


def test_a_text_with_separators_of_digits_runs():
    module = SourceModule(SEPARATORS)
    numbers, sums = gpuarray.zeros(2, np.int32), gpuarray.zeros(4, np.float32)
    module.get_function("first")(numbers, block=(1, 1, 1))
    module.get_function("second")(sums, np.int32(4), block=(4, 1, 1), shared=16)
    assert numbers.get().tolist() == [10_000, 20_000] and sums.get().tolist() == [43] * 4
