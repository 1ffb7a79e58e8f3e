"""What parsers and text functions are measured on: made, not fetched, and the same on every machine."""

import itertools
import json
import random
from collections.abc import Iterator

# What a browser sends: 416 bytes, the size that the figures of the design were taken with.
BROWSER = b"""GET /articles/2010/03/attoparsec-rewired.html HTTP/1.1
Host: www.example.org
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8
Accept-Language: en-us,en;q=0.5
Accept-Encoding: gzip,deflate
Accept-Charset: ISO-8859-1,utf-8;q=0.7,*;q=0.7
Keep-Alive: 300
Connection: keep-alive
Referer: http://www.example.org/2010/index/

""".replace(b"\n", b"\r\n")

# What a web server sends before a page: 389 bytes.
RESPONSE = b"""HTTP/1.1 200 OK
Date: Sat, 21 Nov 2026 09:30:00 GMT
Server: nginx/1.28.0 (Ubuntu)
Content-Type: text/html; charset=utf-8
Content-Length: 18432
Last-Modified: Fri, 20 Nov 2026 16:05:12 GMT
ETag: "674a0c38-4800"
Cache-Control: public, max-age=3600
Vary: Accept-Encoding
Strict-Transport-Security: max-age=31536000; includeSubDomains
Accept-Ranges: bytes
Connection: keep-alive

""".replace(b"\n", b"\r\n")


def mixed_request(seed: int) -> bytes:
    """A request with fields of all lengths: a processor learns one request by heart, but not hundreds."""
    length = random.Random(seed).randint
    line = f"GET /{'p' * length(1, 60)} HTTP/1.1\r\n"
    fields = "".join(f"{'n' * length(1, 16)}: {'v' * length(1, 48)}\r\n" for _ in range(10))
    return f"{line}{fields}\r\n".encode()


def requests(size: int) -> dict[str, bytes]:
    """Requests one after another, about so many bytes of each kind."""
    mixed = b"".join(map(mixed_request, range(1, 513)))
    return {"browser's": BROWSER * (size // len(BROWSER)), "mixed": mixed * (size // len(mixed))}


def responses(size: int) -> bytes:
    return RESPONSE * (size // len(RESPONSE))


WORDS = """the of and to a in that is was he for it with as his on be at by had not are but from or have an they which one you
were all her she there would their we him been has when who will no more if out so what said up its about than into them can only
other time new some could these two may first then do any like my now over such our man me even most made after also well did
many before must through years where much your way down should because long each just state those people too mister how little
good make very year still see own work long men day get here between both life being under never same another know while last
thread server request parser scheduler buffer connection""".split()

FOREIGN = """Ελληνικά γλώσσα καλημέρα москва привет сервер поток 日本語 文字列 処理 東京 한국어 안녕 שלום עולם مرحبا naïve façade Straße Größe
œuvre señor ação ĳsselmeer İstanbul ﬁne 😀 🚀 𝔘𝔫𝔦 e\u0301te\u0301""".split()


def text(size: int, words: list[str]) -> str:
    """Lines of about 70 characters, sentences of about ten words; about so many bytes."""
    chance = random.Random(1)
    done, made = [], 0
    while made < size:
        line = " ".join(chance.choice(words) for _ in range(chance.randint(8, 16)))
        line = line[0].upper() + line[1:] + chance.choice([".", ".", ",", ";", "?", ""])
        done.append(line)
        made += len(line.encode()) + 1
    return "\n".join(done) + "\n"


def texts(size: int) -> dict[str, str]:
    """Text as in English, all ASCII, and one in many scripts."""
    return {"English": text(size, WORDS), "mixed": text(size, WORDS[:30] + FOREIGN)}


def document(size: int) -> bytes:
    """A JSON document as an interface of a web service answers it: objects in an array, about so many bytes."""
    chance = random.Random(2)
    phrase = lambda words, count: " ".join(chance.choice(words) for _ in range(count))

    def person(number):
        return {
            "id": number,
            "active": chance.random() < 0.5,
            "name": phrase(WORDS, 2).title(),
            "balance": round(chance.uniform(-1000, 100_000), 2),
            "position": [round(chance.uniform(-90, 90), 6), round(chance.uniform(-180, 180), 6)],
            "tags": [chance.choice(WORDS) for _ in range(chance.randint(0, 6))],
            "about": f'He said "{phrase(WORDS, 12)}".\n{phrase(WORDS, 20)}',
            "greeting": phrase(FOREIGN, 3),
            "manager": None if chance.random() < 0.3 else {"id": chance.randint(0, number), "level": chance.randint(1, 9)},
        }

    parts, made = [], 0
    for number in itertools.count():
        part = json.dumps(person(number), ensure_ascii=number % 10 == 0)
        parts.append(part)
        made += len(part.encode())
        if made >= size:
            return f"[{','.join(parts)}]".encode()


AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "curl/8.14.1",
]
PATHS = 8_000


def access_log(size: int) -> Iterator[bytes]:
    """A log in the Combined Log Format, about so many bytes in pieces: lines of about 200 bytes, paths that are asked for as
    often as Zipf's law has it. After 50 MB it starts again: no processor learns so much by heart."""
    chance = random.Random(3)
    phrase = lambda least, most: "/".join(chance.choice(WORDS) for _ in range(chance.randint(least, most)))
    paths = [f"/{phrase(1, 5)}/{number}{chance.choice(['', '.html', '.css', '.jpg', '/'])}" for number in range(PATHS)]
    often = list(itertools.accumulate(1 / rank for rank in range(1, PATHS + 1)))

    def line(number, path):
        moment = f"21/Nov/2026:{number // 36_000:02}:{number // 600 % 60:02}:{number // 10 % 60:02} +0000"
        client = f"{chance.choice([10, 172, 192])}.{chance.randrange(256)}.{chance.randrange(256)}.{number % 251}"
        query = f"?page={chance.randrange(100)}" if chance.random() < 0.2 else ""
        answer = f"{chance.choice([200, 200, 200, 304, 404])} {int(chance.paretovariate(0.8) * 300)}"
        referer = "-" if chance.random() < 0.4 else f"https://www.example.org{chance.choice(paths)}"
        agent = chance.choice(AGENTS)
        return f'{client} - - [{moment}] "GET {path}{query} HTTP/1.1" {answer} "{referer}" "{agent}"\n'

    lines = (line(number, path) for number, path in enumerate(chance.choices(paths, cum_weights=often, k=250_000)))
    piece = "".join(lines).encode()
    whole, rest = divmod(size, len(piece))
    yield from itertools.repeat(piece, whole)
    yield piece[: piece.rfind(b"\n", 0, rest) + 1]
