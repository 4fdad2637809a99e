"""Everyday Python and NumPy, whose functions a page has from the start (`page_functions.py` runs it)."""

# ruff: noqa
import math, random, statistics, itertools, functools, collections, re, json, time, datetime, textwrap, string, operator, heapq, bisect, copy, fractions, decimal, typing, dataclasses, enum, contextlib, io, csv, pprint, warnings, abc, inspect, traceback
import numpy as np
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class P:
    x: float
    y: list = field(default_factory=list)


class E(enum.Enum):
    A = 1


print(
    P(1.0),
    sorted([P(2.0), P(1.0)]),
    E.A,
    {**{"a": 1}},
    [*range(3)],
    {1, 2} | {3},
    (1,) * 3,
    10**40 // 7,
    1e300 * 10,
    0x10,
    3 + 4j,
    b"abc".hex(),
)
print(
    f"{math.pi:.3f} {1234567:,} {'x':>10} {0.1!r} {1e-9:g} {255:#x} {True}",
    "%5.2f %s %d" % (1.5, "a", 3),
    "{:.2e}".format(12.3),
)
print(
    random.Random(0).random(),
    random.Random(1).gauss(0, 1),
    random.Random(1).choices([1, 2], k=3),
    random.Random(1).sample(range(10), 3),
    statistics.mean([1, 2, 3]),
    statistics.stdev([1, 2, 3.0]),
)
print(
    list(itertools.permutations("abc", 2)),
    functools.reduce(operator.add, [1, 2]),
    collections.Counter("aab").most_common(),
    collections.defaultdict(list),
    collections.OrderedDict(a=1),
    collections.deque([1], maxlen=3),
    collections.namedtuple("Q", "a b")(1, 2),
)
print(
    re.sub(r"(\w+)@(\w+)", r"\2", "a@b c@d"),
    re.findall(r"\d+", "1 22"),
    json.loads(json.dumps({"a": [1, 2.5, None, "é"]})),
    datetime.datetime(2020, 1, 1).isoformat(),
    textwrap.fill("a b " * 30, 20),
    heapq.nsmallest(2, [3, 1, 2]),
    bisect.bisect([1, 2], 1.5),
    copy.deepcopy([{}]),
    fractions.Fraction(1, 3) + 1,
    decimal.Decimal("1.1") * 2,
)
pprint.pprint({"a": list(range(40))})
print(
    "ß".upper(),
    "aé".encode(),
    "x,y".split(","),
    " a ".strip(),
    "abc"[::-1],
    "a".isalpha(),
    "-".join("abc"),
    "abc".replace("b", ""),
    "a\nb".splitlines(),
    "abc".find("c"),
    "A".lower(),
    "ab".title(),
    "a".zfill(3),
    "ab".startswith("a"),
)


@functools.lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def gen():
    try:
        x = yield 1
        yield from range(2)
    finally:
        pass


async def co():
    return 1


print(
    fib(30),
    list(gen()),
    [x for x in range(3) if x],
    {k: v for k, v in zip("ab", (1, 2))},
    any([0]),
    all([1]),
    sum(range(10)),
    max(3, 1, key=lambda v: -v),
    min([2, 1]),
    sorted("bca", reverse=True),
    divmod(7, 2),
    pow(2, 10, 7),
    abs(-1),
    round(2.567, 2),
    isinstance(1, int),
    hash("a"),
    id(1) > 0,
    bin(5),
    chr(97),
    ord("a"),
    int("12"),
    float("1e3"),
    str(1),
    list("ab"),
    tuple([1]),
    set([1]),
    dict(a=1),
    enumerate("a"),
    reversed([1]),
    map(str, [1]),
    filter(None, [1]),
)
match {"a": [1, 2]}:
    case {"a": [1, *rest]}:
        print(rest)
for bad in (
    "1/0",
    "[][1]",
    "{}['a']",
    "int('x')",
    "None.x",
    "1+'a'",
    "undefined",
    "np.ones(3)+np.ones(2)",
    "np.linalg.inv(np.zeros((2,2)))",
    "np.ones(3)[5]",
    "np.arange(3).reshape(2,2)",
    "np.log(-1.0)",
    "assert_",
    "f(1)",
    "raise_",
):
    try:
        eval(bad)
    except Exception as e:
        print(type(e).__name__, e)
with contextlib.suppress(ZeroDivisionError):
    1 / 0
try:
    try:
        1 / 0
    except ZeroDivisionError as e:
        raise ValueError("x") from e
except ValueError:
    traceback.print_exc(file=io.StringIO())
warnings.warn("w")
print(
    inspect.signature(fib),
    csv.reader(io.StringIO("a,b")).__next__(),
    time.perf_counter() > 0,
    time.strftime("%Y") != "",
    string.ascii_letters,
)
help(fib)
rng = np.random.default_rng(0)
a = rng.normal(size=(4, 5))
b = rng.integers(0, 5, size=(4, 5))
m = b > 2
v = a[0]
for name in "random uniform exponential gamma beta poisson binomial multinomial dirichlet choice permutation shuffle geometric laplace logistic standard_normal gumbel standard_t chisquare lognormal".split():
    f = getattr(rng, name)
    arg = {
        "gamma": (2.0,),
        "beta": (1.0, 2.0),
        "binomial": (5, 0.5),
        "multinomial": (5, [0.5, 0.5]),
        "dirichlet": ([1.0, 2.0],),
        "choice": (5, 3),
        "permutation": (5,),
        "shuffle": ([1, 2, 3],),
        "geometric": (0.5,),
        "standard_t": (3.0,),
        "chisquare": (3.0,),
    }.get(name, ())
    f(*arg)
rng.choice(5, size=3, replace=False, p=[0.2] * 5)
np.random.seed(0)
np.random.rand(3)
np.random.randn(2)
np.random.randint(5)
np.random.choice([1, 2])
np.random.shuffle([1, 2])
np.random.uniform()
np.random.normal()
np.random.RandomState(0).rand()
for dtype in (float, np.float32, int, np.int32, bool, np.int8, np.uint8, np.int64, np.float16, complex):
    x = a.astype(dtype)
    for text in """x+x; x*x; x-1 if dtype is not bool else x; x==x; x!=x; x>0 if dtype is not complex else 0; x.sum(); x.sum(0); x.sum(axis=1,keepdims=True); x.mean(); x.mean(-1); x.std(); x.var(1,ddof=1); x.max() if dtype is not complex else 0; x.min(0); x.argmax(1); x.argmin(); x.cumsum(); x.cumprod(); x.prod(); x.T; x@x.T; x.dot(x.T); x.copy(); x.ravel(); x.reshape(-1); x.reshape(2,10); x[::-1]; x[1:3,::2]; x[m]; x[[0,1]]; x[[0,1],[2,3]]; x[...,None]; np.where(m,x,0); np.concatenate([x,x]); np.stack([x,x]); np.vstack([x,x]); np.hstack([x,x]); np.sort(x,axis=1); np.argsort(x,axis=0); np.argsort(x,kind='stable'); np.unique(x); np.flip(x); np.roll(x,1); np.repeat(x,2,axis=0); np.tile(x,2); np.outer(x[0],x[0]); np.inner(x,x); np.einsum('ij,kj->ik',x,x); np.einsum('ij->i',x); np.tensordot(x,x,axes=([1],[1])); np.matmul(x,x.T); np.diag(x[0]); np.trace(x); np.triu(x); np.tril(x); np.nonzero(x); np.flatnonzero(x); np.count_nonzero(x); np.any(x); np.all(x,0); np.abs(x); np.square(x); np.sign(x); np.broadcast_to(x[0],(3,5)); np.expand_dims(x,0); np.squeeze(x[None]); np.swapaxes(x,0,1); np.moveaxis(x,0,1); np.transpose(x); np.take(x,[0]); np.take_along_axis(x,b*0,1); np.pad(x,1); np.allclose(x,x); np.isclose(x,x); np.array_equal(x,x); x.tolist(); x.item(0); str(x); repr(x); x.tobytes(); x.nbytes; np.zeros_like(x); np.ones_like(x); np.full_like(x,1); np.empty_like(x); np.diff(x) if dtype is not bool else x; np.median(x) if dtype is not complex else 0; np.percentile(x,50) if dtype not in (complex,bool) else 0; np.quantile(x,0.3,axis=1) if dtype not in (complex,bool) else 0; np.clip(x,0,1) if dtype is not complex else 0; np.maximum(x,0); np.minimum(x,0); np.maximum.reduce(x); np.add.reduce(x,axis=1); np.add.reduceat(x,[0,2]); np.add.accumulate(x); np.multiply.outer(x,x); np.add.at(x.copy(),[0,1],1); np.exp(x); np.log(x+2); np.sqrt(abs(x)); np.tanh(x) ; np.power(x,2); x**2; -x if dtype is not bool else ~x; x/2; x//2 if dtype is not complex else 0; x%2 if dtype is not complex else 0; np.round(x,2); np.isfinite(x); np.isnan(x); np.cov(x) if dtype in (float,) else 0; np.corrcoef(x) if dtype in (float,) else 0; np.average(x,axis=1,weights=None); np.searchsorted(np.sort(x[0]),x[0]); np.bincount(b.ravel()); np.histogram(x,bins=3) if dtype is not complex and dtype is not bool else 0; np.interp([.5],[0,1],[0,1]); np.meshgrid(x[0],x[0]); np.ix_([0],[1]); np.nan_to_num(x); np.nansum(x); np.nanmean(x); np.lexsort((x[0],x[0])) if dtype is not complex else 0; np.partition(x,2); np.split(x,2); np.array_split(x,3); np.delete(x,0,0); np.insert(x,0,1,0); np.append(x,x); np.trapezoid(x) if dtype is not bool else 0; np.kron(x,x); np.cross(x[:,:3],x[:,:3]) if dtype is not bool else 0; np.fromiter(iter([1]),dtype); np.array([[1,2],[3,4]],dtype=dtype); np.asarray([1],dtype); np.isin(x,[1]); np.intersect1d(x,x); np.apply_along_axis(sum,1,x); np.vectorize(lambda t:t)(x); x.any(axis=1); x.nonzero(); x.fill(0); x.flatten(); x.astype(str); x.view(); list(x); np.logical_and(x,x); np.logical_not(x); np.select([m],[x]); np.choose(b*0,[x]); np.put_along_axis(x,b*0,1,1); np.copyto(x,1); np.ptp(x) if dtype not in (bool,) else 0; np.divide(x,2.0); np.add(x,x,where=m); np.mean(x,where=m); np.sum(x,axis=1,where=m); np.gradient(x) if dtype is float else 0; np.convolve(x[0],x[1]); np.digitize([.5],[0,1]); np.indices((2,2)); np.eye(3)[b[0]*0]; np.arange(3,dtype=dtype) if dtype is not bool else 0; np.linspace(0,1,5); np.logspace(0,1,3); np.geomspace(1,2,3)""".split(
        ";"
    ):
        try:
            eval(text.strip())
        except Exception as e:
            print(dtype, text, type(e).__name__, e)
s = a[:, :4] @ a[:, :4].T + np.eye(4) * 5
for name in "inv det eig eigh eigvals eigvalsh svd qr cholesky norm matrix_rank pinv slogdet cond".split():
    getattr(np.linalg, name)(s)
np.linalg.solve(s, a)
np.linalg.lstsq(a.T, np.ones(5), rcond=None)
np.linalg.matrix_power(s, 3)
np.fft.fft(v)
np.fft.ifft(v)
np.fft.rfft(v)
np.polyfit(v, v, 1)
np.polyval([1, 2], v)
np.logaddexp(v, v)
np.logaddexp.reduce(a, axis=1)
for name in "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh floor ceil rint trunc reciprocal negative positive signbit isinf spacing deg2rad".split():
    with np.errstate(all="ignore"):
        getattr(np, name)(np.abs(a))
        getattr(np, name)(a.astype(np.float32))
for name in "arctan2 hypot copysign nextafter fmod remainder floor_divide true_divide float_power heaviside fmax fmin ldexp".split():
    with np.errstate(all="ignore"):
        getattr(np, name)(a, b) if name == "ldexp" else getattr(np, name)(a, a)
np.set_printoptions(precision=3, suppress=True)
print(
    a,
    np.arange(2000),
    np.array(["a", "b"]),
    np.array([None, 1]),
    np.array([(1, 2.0)], dtype=[("a", int), ("b", float)]),
)
np.testing.assert_allclose(a, a)
np.save(f := io.BytesIO(), a)
f.seek(0)
np.load(f)
np.savetxt(io.StringIO(), a)
np.loadtxt(io.StringIO("1 2"))
np.ma.masked_array(a, m).mean(axis=1)
np.poly1d([1, 2])(1)
try:
    np.testing.assert_allclose(a, a + 1)
except AssertionError as e:
    print(str(e)[:40])
import scipy.special as sp

for name in "logsumexp softmax log_softmax expit logit xlogy entr kl_div rel_entr gammaln gamma digamma erf erfc comb factorial log_ndtr ndtr softplus".split():
    f = getattr(sp, name, None)
    if f is None:
        continue
    try:
        f(abs(a), abs(a)) if name in ("xlogy", "kl_div", "rel_entr", "comb") else f(abs(a))
    except Exception as e:
        print(name, e)
sp.logsumexp(a, axis=1, keepdims=True, b=a * a)
sp.softmax(a, axis=-1)
print("done")
