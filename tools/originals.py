#!/usr/bin/env python3
"""Inputs for original programs of benchmark suites, in the suites' own file formats.

The suites' data sets are not always at hand. This makes inputs of the same size and format from a fixed seed:
`sluice paper NAME --originals FOLDER` looks for them in FOLDER/inputs. data/originals/*.yaml say which program reads
which.
"""

import array
import random
import struct
import sys
from pathlib import Path


def floats(values):
    return array.array("f", values).tobytes()


def uints(values):
    return array.array("I", values).tobytes()


def rodinia_graph(path, nodes, r):
    """As the suite's graphgen: every node chooses 2 to 4 neighbours, edges go both ways, weights are 1 to 10."""
    to = [[] for _ in range(nodes)]
    for i in range(nodes):
        for _ in range(r.randint(2, 4)):
            j, w = r.randrange(nodes), r.randint(1, 10)
            to[i].append((j, w))
            to[j].append((i, w))
    with open(path, "w") as f:
        f.write(f"{nodes}\n")
        at = 0
        for e in to:
            f.write(f"{at} {len(e)}\n")
            at += len(e)
        f.write(f"\n{r.randrange(nodes)}\n\n{at}\n")
        for e in to:
            f.write("".join(f"{j} {w}\n" for j, w in e))


def galois_graph(path, nodes, r, degree=4, symmetric=False):
    """Version 1 of the Galois binary format: `degree` uniform random neighbours for each node, weights 1 to 100."""
    to = [[(r.randrange(nodes), r.randint(1, 100)) for _ in range(degree)] for _ in range(nodes)]
    if symmetric:
        for i in range(nodes):
            for j, w in list(to[i][:degree]):
                to[j].append((i, w))
    ends, at = [], 0
    for e in to:
        at += len(e)
        ends.append(at)
    with open(path, "wb") as f:
        f.write(struct.pack("<QQQQ", 1, 4, nodes, at))
        f.write(array.array("Q", ends).tobytes())
        f.write(uints(j for e in to for j, _ in e))
        if at % 2:
            f.write(uints([0]))
        f.write(uints(w for e in to for _, w in e))


def keys(path, n, r):
    """Keys 1 to n in random order, for Rodinia's b+tree."""
    k = list(range(1, n + 1))
    r.shuffle(k)
    with open(path, "w") as f:
        f.write(f"{n}\n\n")
        f.writelines(f"{x}\n" for x in k)


def points(path, n, features, r):
    """Rows of a number and `features` values from 0 to 255, for Rodinia's kmeans."""
    with open(path, "w") as f:
        for i in range(n):
            f.write(f"{i} " + " ".join(str(r.randint(0, 255)) for _ in range(features)) + "\n")


def plane(path, n, low, high, r):
    with open(path, "w") as f:
        f.writelines(f"{r.uniform(low, high):.6f}\n" for _ in range(n * n))


def mesh(path, n, r):
    """Elements of four sides for Rodinia's cfd: a strip of a mesh, its elements renumbered within windows of 256."""
    width = int(n**0.5)
    number = list(range(n))
    for a in range(0, n, 256):
        part = number[a : a + 256]
        r.shuffle(part)
        number[a : a + 256] = part
    place = [0] * n
    for i, p in enumerate(number):
        place[p] = i
    with open(path, "w") as f:
        f.write(f"{n}\n")
        for p in place:
            sides = (p - 1, p + 1, p - width, p + width)
            f.write(f"{r.uniform(0.5, 1.5):.6f}")
            for k, q in enumerate(sides):
                f.write(f" {number[q] + 1 if 0 <= q < n else -1}")
                normal = ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0))[k]
                f.write("".join(f" {x * r.uniform(0.9, 1.1):.6f}" for x in normal))
            f.write("\n")


def pixels(path, n, r):
    path.write_bytes(bytes(r.randrange(256) for _ in range(n)))


def pgm(path, rows, columns, r):
    with open(path, "w") as f:
        f.write(f"P2\n# random\n{columns} {rows}\n255\n")
        for _ in range(rows):
            f.write(" ".join(str(r.randint(1, 255)) for _ in range(columns)) + "\n")


def matrix(path, rows, nonzeros, r):
    """Symmetric sparse matrix in Matrix Market format, the lower half stored: a band, as meshes have it."""
    entries = set()
    while len(entries) < nonzeros // 2:
        i = r.randrange(rows)
        j = max(0, min(i, i - int(abs(r.gauss(0, rows**0.5)))))
        entries.add((i, j))
    entries |= {(i, i) for i in range(rows)}
    with open(path, "w") as f:
        f.write("%%MatrixMarket matrix coordinate real symmetric\n")
        f.write(f"{rows} {rows} {len(entries)}\n")
        f.writelines(f"{i + 1} {j + 1} {r.uniform(-1, 1):.6f}\n" for i, j in sorted(entries))


def picture(path, width, height, bins, r):
    """Values of a histogram of bins[0] x bins[1] for Parboil's histo: most of them in the middle."""
    with open(path, "wb") as f:
        f.write(uints([width, height, *bins]))
        n = bins[0] * bins[1]
        f.write(uints(min(n - 1, max(0, int(r.gauss(n / 2, n / 16)))) for _ in range(width * height)))


def samples(path, n, grid, r):
    """Samples on spirals in k-space for Parboil's mri-gridding."""
    with open(path, "w") as f:
        f.write(f"aquisition.numsamples={n}\naquisition.kmax=128 128 128\naquisition.matrixSize={grid} {grid} {grid}\n")
        f.write(f"reconstruction.matrixSize={grid} {grid} {grid}\ngridding.matrixSize={grid} {grid} {grid}\n")
        f.write("gridding.oversampling=1\nkernel.width=4\nkernel.useLUT=1\n")
    with open(f"{path}.data", "wb") as f:
        for _ in range(n):
            at = [max(-127.0, min(127.0, r.gauss(0, 40))) for _ in range(3)]
            f.write(floats([r.uniform(-1, 1), r.uniform(-1, 1), *at, 1.0]))


def numbers(path, n, r):
    path.write_bytes(floats(r.random() for _ in range(n)))


def genome(path, n, r, title):
    with open(path, "w") as f:
        f.write(f">{title}\n")
        for _ in range(n // 60):
            f.write("".join(r.choice("ACGT") for _ in range(60)) + "\n")


def weblog(path, lines, r):
    """Lines of page, address and agent, as the generator of Mars writes them."""
    with open(path, "w") as f:
        for _ in range(lines):
            page = int(r.paretovariate(0.8)) % 100000
            ip = ".".join(str(r.randrange(256)) for _ in range(4))
            f.write(f"http://www.site{page % 977}.com/page{page}.html\t{ip}\t{r.randrange(1000)}\n")


def pages(path, n, r):
    """Lines of a page and its number of views, for Mars's PageViewRank."""
    with open(path, "w") as f:
        for i in range(n):
            f.write(f"http://www.site{i % 97}.org/page{i}.html\t{1000000 // int(r.paretovariate(0.8))}\n")


def html(path, n, r):
    """A folder of pages with two links each, for Mars's InvertedIndex."""
    words = ("cache ", "memory ", "the ", "<b>warp</b> ", "of ", "<p>", "page ", "line ")
    path.mkdir(exist_ok=True)
    for i in range(n):
        with open(path / f"{i:05d}.html", "w") as f:
            for _ in range(2):
                f.write("".join(r.choice(words) for _ in range(r.randint(1, 300))))
                site, page = r.randrange(97), int(r.paretovariate(0.8)) % 1000
                f.write(f'<a href="http://www.site{site}.org/page{page}.html">here</a> ')


def formula(path, variables, clauses, r):
    """A random formula of three literals a clause, in DIMACS' format."""
    with open(path, "w") as f:
        f.write(f"p cnf {variables} {clauses}\n")
        for _ in range(clauses):
            f.write(" ".join(str(r.choice((-1, 1)) * v) for v in r.sample(range(1, variables + 1), 3)) + " 0\n")


def digits(path, n, r):
    """Pictures of 28 x 28 pixels in MNIST's format."""
    path.write_bytes(struct.pack(">4i", 2051, n, 28, 28)
                     + bytes(r.randrange(256) if r.random() < 0.3 else 0 for _ in range(n * 784)))


def movie(path, width, height, frames):
    """Frames of grey bytes, uncompressed, in an AVI file."""
    def chunk(name, body):
        return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)

    n, size = len(frames), width * height
    main = struct.pack("<14I", 33333, size * 30, 0, 0x10, n, 0, 1, size, width, height, 0, 0, 0, 0)
    stream = b"vidsDIB " + struct.pack("<10I4H", 0, 0, 0, 1, 30, 0, n, size, 0, 0, 0, 0, width, height)
    form = struct.pack("<3I2H6I", 40, width, height, 1, 8, 0, size, 0, 0, 256, 256)
    streams = b"LIST" + struct.pack("<I", 20 + len(stream) + len(form)) + b"strl" + chunk(b"strh", stream)
    header = chunk(b"LIST", b"hdrl" + chunk(b"avih", main) + streams + chunk(b"strf", form))
    index = b"".join(b"00db" + struct.pack("<3I", 16, 4 + i * (size + size % 2 + 8), size) for i in range(n))
    body = chunk(b"LIST", b"movi" + b"".join(chunk(b"00db", f) for f in frames)) + chunk(b"idx1", index)
    path.write_bytes(b"RIFF" + struct.pack("<I", 4 + len(header) + len(body)) + b"AVI " + header + body)


def heart(path, frames, r):
    """Pictures of random grey values of the size of Rodinia's heart, each shifted by a pixel from the one before."""
    width, height = 609, 590
    first = bytes(r.randrange(128) for _ in range(width * height))
    movie(path, width, height, [first[i:] + first[:i] for i in range(frames)])


def blood(path, frames, r):
    """A vein of the size of Rodinia's with 36 dark round cells on a bright ground that move a pixel a frame."""
    width, height = 640, 480
    ground = bytearray(160 + r.randrange(3) for _ in range(width * height))
    cells = [(60 + 46 * (i % 12) + r.randrange(10), 150 + 60 * (i // 12) + r.randrange(10)) for i in range(36)]
    disc = [(dx, dy, min(1.0, max(0.0, (12 - (dx * dx + dy * dy) ** 0.5) / 4))) for dx in range(-12, 13)
            for dy in range(-12, 13)]
    pictures = []
    for t in range(frames):
        f = bytearray(ground)
        for x, y in cells:
            for dx, dy, share in disc:
                f[(height - 1 - y - dy) * width + x + t + dx] -= int(90 * share)
        pictures.append(bytes(f))
    movie(path, width, height, pictures)


INPUTS = {
    "graph65536.txt": lambda p, r: rodinia_graph(p, 65536, r),
    "graph256k.txt": lambda p, r: rodinia_graph(p, 262144, r),
    "graph1MW_6.txt": lambda p, r: rodinia_graph(p, 1000000, r),
    "r4-2e14.gr": lambda p, r: galois_graph(p, 1 << 14, r),
    "r4-2e16.gr": lambda p, r: galois_graph(p, 1 << 16, r),
    "r4-2e18.gr": lambda p, r: galois_graph(p, 1 << 18, r),
    "r4-2e20.gr": lambda p, r: galois_graph(p, 1 << 20, r),
    "sym-2e14.gr": lambda p, r: galois_graph(p, 1 << 14, r, degree=2, symmetric=True),
    "100k.txt": lambda p, r: keys(p, 100000, r),
    "mil.txt": lambda p, r: keys(p, 1000000, r),
    "command.txt": lambda p, r: p.write_text("\nj 6000 3000\n\nk 10000\n\n"),
    "command_small.txt": lambda p, r: p.write_text("\nj 1500 3000\n\nk 2500\n"),
    "28k_4x_features.txt": lambda p, r: points(p, 28000, 136, r),
    "8k_4x_features.txt": lambda p, r: points(p, 8192, 136, r),
    "8k_34_features.txt": lambda p, r: points(p, 8192, 34, r),
    "kdd_cup": lambda p, r: points(p, 494020, 34, r),
    "temp_512": lambda p, r: plane(p, 512, 320, 345, r),
    "power_512": lambda p, r: plane(p, 512, 0.0005, 0.01, r),
    "temp_1024": lambda p, r: plane(p, 1024, 320, 345, r),
    "power_1024": lambda p, r: plane(p, 1024, 0.0005, 0.01, r),
    "mesh_16k": lambda p, r: mesh(p, 16384, r),
    "mesh_97k": lambda p, r: mesh(p, 97046, r),
    "rgb.bmp": lambda p, r: pixels(p, 3 * 1024 * 1024, r),
    "rgb512.bmp": lambda p, r: pixels(p, 3 * 512 * 512, r),
    "test.avi": lambda p, r: heart(p, 20, r),
    "testfile.avi": lambda p, r: blood(p, 5, r),
    "image.pgm": lambda p, r: pgm(p, 502, 458, r),
    "Dubcova3.mtx": lambda p, r: matrix(p, 146689, 1891669, r),
    "band_32k.mtx": lambda p, r: matrix(p, 32768, 524288, r),
    "vector.bin": lambda p, r: numbers(p, 146689, r),
    "128x128x32.bin": lambda p, r: numbers(p, 128 * 128 * 32, r),
    "img.bin": lambda p, r: picture(p, 996, 1040, (256, 8192), r),
    "img_small.bin": lambda p, r: picture(p, 256, 256, (256, 8192), r),
    "mini.uks": lambda p, r: samples(p, 2048, 32, r),
    "small.uks": lambda p, r: samples(p, 60000, 64, r),
    "reference.fna": lambda p, r: genome(p, 20000, r, "reference"),
    "weblog.txt": lambda p, r: weblog(p, 20000, r),
    "weblog_8k.txt": lambda p, r: weblog(p, 8192, r),
    "pages_20k.txt": lambda p, r: pages(p, 20000, r),
    "pages_256k.txt": lambda p, r: pages(p, 262144, r),
    "html": lambda p, r: html(p, 1024, r),
    "random-1500-6300.cnf": lambda p, r: formula(p, 1500, 6300, r),
    "random-42000-176400.cnf": lambda p, r: formula(p, 42000, 176400, r),
    "lw1.wei": lambda p, r: p.write_bytes(floats(r.gauss(0, 0.1) for _ in range(156))),
    "lw2.wei": lambda p, r: p.write_bytes(floats(r.gauss(0, 0.1) for _ in range(7800))),
    "lw3.wei": lambda p, r: p.write_bytes(floats(r.gauss(0, 0.1) for _ in range(125100))),
    "lw4.wei": lambda p, r: p.write_bytes(floats(r.gauss(0, 0.1) for _ in range(1010))),
    "t10k-images-idx3-ubyte": lambda p, r: digits(p, 100, r),
}


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: tools/originals.py FOLDER [NAME...]\n\n{__doc__}\nNames: {' '.join(INPUTS)}")
        return 0 if arguments else 2
    folder = Path(arguments[0]) / "inputs"
    names = arguments[1:] or list(INPUTS)
    for name in names:
        if name not in INPUTS:
            print(f"tools/originals.py: no input '{name}'; there are {', '.join(INPUTS)}", file=sys.stderr)
            return 2
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = folder / name
        if path.exists():
            continue
        part = folder / f".{name}.part"
        INPUTS[name](part, random.Random(f"sluice {name}"))
        if (folder / f".{name}.part.data").exists():
            (folder / f".{name}.part.data").rename(folder / f"{name}.data")
        part.rename(path)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
