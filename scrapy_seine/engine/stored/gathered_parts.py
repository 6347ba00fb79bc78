"""Finds callbacks that gather parts in a dict or list that several requests share.

A page yields several requests with one dict in `cb_kwargs` or `meta`, each callback adds its part,
and the last one yields the item. A stored request carries a copy, so no callback would be the last.
The source shows both halves: a name that a loop, or two requests, pass on, and a callback that adds
to what it was passed by that key. A callback that only sets a key (`item["url"] = …`) gathers
nothing, because each copy then is an item of its own.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

#: Methods that add to a list, dict or set, or take from it.
_ADDING = frozenset(
    {"add", "append", "appendleft", "discard", "extend", "insert", "pop", "popleft", "remove"}
    | {"update"}
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp, ast.SetComp)
_CARRIERS = frozenset({"meta", "cb_kwargs"})
Function = ast.FunctionDef | ast.AsyncFunctionDef


def gathering_callbacks(methods: Mapping[str, Iterable[Function]]) -> dict[str, frozenset[str]]:
    """Return the callbacks that gather, each with the keys under which requests share a value."""
    shared = {key for parts in methods.values() for part in parts for key in _shared_keys(part)}
    found = {
        name: frozenset(key for part in parts for key in _added_to(part)) & shared
        for name, parts in methods.items()
    }
    return {name: keys for name, keys in found.items() if keys}


def _shared_keys(function: Function) -> Iterator[str]:
    """Yield the keys of meta and cb_kwargs under which requests of a method share one value."""
    passed = list(_passed(function))
    uses = Counter(value for _, value in passed)
    yield from (key for key, value in passed if uses[value] > 1)
    for loop in ast.walk(function):
        if isinstance(loop, _LOOPS):
            made = stored_names(loop)
            yield from (key for key, value in _passed(loop) if value not in made)


def _passed(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield key and name of each variable in `cb_kwargs={"key": name}`, and in `meta`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _CARRIERS:
            yield from _pairs(node.value)


def _pairs(value: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(part, ast.Name):
                yield str(key.value), part.id
    elif isinstance(value, ast.Call):  # dict(key=name)
        for word in value.keywords:
            if word.arg is not None and isinstance(word.value, ast.Name):
                yield word.arg, word.value.id


def stored_names(tree: ast.AST) -> set[str]:
    """Return the variables that code assigns."""
    names = [x for x in ast.walk(tree) if isinstance(x, ast.Name)]
    return {x.id for x in names if isinstance(x.ctx, ast.Store)}


def _added_to(function: Function) -> Iterator[str]:
    """Yield the keys of the values that a callback adds to: its arguments, or those of meta."""
    keys_of = _passed_names(function)
    for node in ast.walk(function):
        changed: ast.AST | None = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = node.func.value if node.func.attr in _ADDING else None
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
            changed = node.target.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            outer = node.targets[0].value  # a["b"]["c"] = 1 adds, a["b"] = 1 sets
            changed = outer if isinstance(outer, ast.Subscript) else None
        while changed is not None:
            if isinstance(changed, ast.Name) and changed.id in keys_of:
                yield keys_of[changed.id]
            if key := _key_in_meta(changed):
                yield key
            changed = changed.value if isinstance(changed, ast.Subscript) else None


def _passed_names(function: Function) -> dict[str, str]:
    """Return the names of a callback's arguments and of what it takes from meta, with the keys."""
    stored = stored_names(function)
    arguments = [*function.args.args, *function.args.kwonlyargs]
    names = {x.arg: x.arg for x in arguments if x.arg not in stored}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and (key := _key_in_meta(node.value)):
            names |= {x.id: key for x in node.targets if isinstance(x, ast.Name)}
    return names


def _key_in_meta(node: ast.AST) -> str:
    """Return the key of `response.meta["key"]`, `.cb_kwargs["key"]` or `.meta.get("key")`."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr=carrier), slice=ast.Constant(value=str(key))):
            return key if carrier in _CARRIERS else ""
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr=carrier), attr="get" | "pop"),
            args=[ast.Constant(value=str(key)), *_],
        ):
            return key if carrier in _CARRIERS else ""
    return ""
