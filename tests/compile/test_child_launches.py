"""Launches in kernel text, which C++ lacks, rewritten for the host: a pure function of text."""

import pytest

from PyGPU._compile.source.child_launches import has_launches, rewritten

pytestmark = pytest.mark.no_device

CALL = " ->* ::PyGPU_ChildLaunch"
LAUNCHES = {
    "child<<<1, 4>>>(p);": f'child{CALL}("child", 1, 4)(p);',
    "child <<< g, b, 0, s >>> (p)": f'child {CALL}("child",  g, b, 0, s ) (p)',
    "own::child<<<1, f(a >> 2)>>>(p)": f'own::child{CALL}("child", 1, f(a >> 2))(p)',
    "child<float><<<dim3(1, 2), 4>>>(p)": f'child<float>{CALL}("child", dim3(1, 2), 4)(p)',
    "k<<<1, sizeof(A<B<C<int>>>)>>>(p)": f'k{CALL}("k", 1, sizeof(A<B<C<int>>>))(p)',
    "(*f)<<<1, 2>>>(p)": f'(*f){CALL}("", 1, 2)(p)',
    "a<<<1, 2>>>(p), b<<<3, 4>>>(q)": f'a{CALL}("a", 1, 2)(p), b{CALL}("b", 3, 4)(q)',
    "k<<<\n1,\n2>>>\n(p)": f'k{CALL}("k", \n1,\n2)\n(p)',
    "#define L(k, n) k<<<1, n>>> \\\n (p)": f'#define L(k, n) k{CALL}("k", 1, n) \\\n (p)',
}
OTHERS = [
    "// child<<<1, 4>>>(p)",
    "/* child<<<1, 4>>>(p) */",
    'printf("child<<<1, 4>>>(p)");',
    "operator<<<int>(a); f(b >>> (c));",
    "child<<<1, 4>>>;",
    "child<<<1, 4; k>>>(p)",
    "child<<<1, 4",
    "a << b >> (c)",
    "",
]


@pytest.mark.parametrize("source", LAUNCHES)
def test_a_launch_becomes_an_operator_line_by_line_in_place(source):
    assert rewritten(source) == LAUNCHES[source]
    assert rewritten(source).count("\n") == source.count("\n")
    assert has_launches(source)


@pytest.mark.parametrize("source", OTHERS)
def test_what_is_no_launch_is_untouched(source):
    assert rewritten(source) == source and not has_launches(source)
