"""What the stand-ins for Ruby, Lua and Java have in common: small languages are turned into Python, line by line."""
import os, re, sys, types


class Scope(dict):
    def __missing__(self, key):
        raise NameError(key)


class Failed(Exception):
    pass


class Pending(Exception):
    pass


def product(text, define, expression, end):
    """Functions of a file. define matches a head: name, arguments; expression turns a right-hand side into Python."""
    lines, names, depth, python = text.splitlines(), {}, 0, []
    name = None
    for i, raw in enumerate(lines):
        line = raw.strip().rstrip(";")
        m = define.match(line)
        if name is None:
            if m:
                name, depth, python = m.group(1), 1, ["def %s(%s):" % (m.group(1), arguments(m.group(2)))]
            continue
        pad = "    " * depth
        if re.match(r"(if|unless|while|for|begin|try)\b.*", line) and not line.startswith("return"):
            python.append(pad + head(line, expression))
            depth += 1
        elif re.match(r"(\} )?(else|elsif|elseif|else if|rescue|catch)\b", line):
            python.append("    " * (depth - 1) + head(line.lstrip("} "), expression))
        elif line in end:
            if python[-1].endswith(":"):
                python.append(pad + "pass")
            depth -= 1
            if depth == 0:
                names[name] = "\n".join(python)
                name = None
        elif line and not line.startswith(("#", "--", "//")):
            nxt = next((x.strip() for x in lines[i + 1:] if x.strip()), "")
            python.append(pad + statement(line, expression, depth == 1 and nxt in end))
    return names


def arguments(text):
    args = [a.strip().split() for a in text.split(",") if a.strip()]
    return ", ".join(("*" if a[0].endswith("...") and len(a) > 1 else "") + a[-1] for a in args)


def head(line, expression):
    line = re.sub(r"\s*(\{|\bthen|\bdo)$", "", line)
    word, _, rest = line.partition(" ")
    if line.startswith(("elsif", "elseif", "else if")):
        return "elif %s:" % expression(re.sub(r"^(elsif|elseif|else if) ?", "", line))
    if word in ("begin", "try"):
        return "try:"
    if word in ("rescue", "catch"):
        return "except Exception:"
    if word == "else":
        return "else:"
    if word == "unless":
        return "if not (%s):" % expression(rest)
    return "if %s:" % expression(rest)


def statement(line, expression, last):
    line = re.sub(r"^(local|int|var|final) ", "", line)
    m = re.match(r"(return|raise|error|throw)\b ?(.*?)(?: (if|unless) (.*))?$", line)
    if m:
        does = "return " + expression(m.group(2)) if m.group(1) == "return" else "raise ValueError(%r)" % m.group(2)
        if m.group(3):
            return "if %s(%s): %s" % ("not " if m.group(3) == "unless" else "", expression(m.group(4)), does)
        return does
    m = re.match(r"(\w+) ([-+*]?=) (.*)$", line)
    if m:
        return "%s %s %s" % (m.group(1), m.group(2), expression(m.group(3)))
    return ("return " if last else "") + expression(line)


def namespace(sources):
    scope = {"environ": os.environ, "sum_of": sum}
    for python in sources.values():
        exec(python, scope)
    module = types.SimpleNamespace(**{n: scope[n] for n in sources})
    return module
