"""Finds callbacks that read attributes which callbacks change, because each worker has its own
spider.

`self.page += 1` and a link to that page work in one process. With several, each counts for itself,
so that pages are missed and nothing fails; a token that one callback keeps for the others is the
same. The spider's source shows which callbacks read such an attribute. A request for one of them
that a page yields stays in the page's worker (engine.local_requests), where the value is.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import attrs
from scrapy import Request
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_seine.attrs_bases import Value
from scrapy_seine.engine.stored.callback_rings import rings
from scrapy_seine.engine.stored.callbacks import own_classes, rule_of
from scrapy_seine.engine.stored.class_source import globals_of, source_of
from scrapy_seine.engine.stored.gathered_parts import gathering_callbacks

#: Methods that change the list, dict, set, deque or queue that they are called on.
_CHANGING = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem"}
    | {"popleft", "remove", "reverse", "setdefault", "sort", "update"}
    | {"get_nowait", "put", "put_nowait"}
)
#: Those of them by which a list or a queue keeps an item for later.
_GATHERING = frozenset({"append", "appendleft", "extend", "insert", "put", "put_nowait"})
#: Functions that change their first argument.
_CHANGING_FIRST = frozenset(
    {"anext", "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "insort", "next"}
    | {"shuffle"}
)
#: Where a pipeline is made and opened, and what empties its store there.
_STARTS = ("__init__", "from_crawler", "from_settings", "open_spider")
_EMPTYING_SQL = re.compile(
    r"\s*(?:drop\s+table|truncate\s+table|delete\s+from\s+\S+[\s;]*$)", re.IGNORECASE
)
_EMPTYING = frozenset({"delete_many", "drop_all", "drop_collection", "flushdb"})
#: Attributes that Scrapy sets; what is changed in them is no state of the spider.
_SCRAPYS = frozenset({"crawler", "logger", "settings"})
#: Begins the name of a variable of the module, a key of meta or a stat, among those of attributes.
_GLOBAL, _SHARED, _STAT = "global ", "what requests share as ", "the stat "
_STAT_WRITES = frozenset({"inc_value", "max_value", "min_value", "set_value"})
#: These run before the first page and after the last, when each worker has the same values.
_OUTSIDE = frozenset({"__init__", "from_crawler", "update_settings", "closed", "close"})
#: Called with a page by Scrapy's own spiders, for the callback in the value.
_HOOKS = {"parse_start_url": "_callback", "parse_row": "parse", "parse_node": "parse"}
#: Calls that only report a value, by a part of their name.
_TELLING = frozenset({"logger", "logging", "log", "print"})


@attrs.frozen(eq=False, repr=False)
class OwnState(Value):
    """The attributes of a spider that its callbacks share."""

    read_by: dict[str, frozenset[str]]
    """Attributes that callbacks change, by the callback that reads them."""
    gathered: frozenset[str] = frozenset()
    """Tables of lists among them: `self.waiting[url].append(…)`, of values that wait for a page."""
    at_end: frozenset[str] = frozenset()
    """Attributes that callbacks change, and that `closed` reads."""

    def keeps(self, request: Request) -> bool:
        """Whether a request's callback or errback reads what other callbacks change."""
        if not self.read_by:
            return False
        calls = (request.callback or "parse", request.errback)
        return any(_name_of(call, request) in self.read_by for call in calls if call)

    def lines(self, name: str) -> Iterator[str]:
        """Yield log lines: which requests stay in their worker, and what each worker lacks."""
        if self.read_by:
            yield self._stay(name)
        if self.gathered:
            yield (
                f"spider {name!r}: an item that waits in {_shown(sorted(self.gathered))} for a "
                "page that another worker fetches is lost, because that page's callback runs "
                "there. Start one worker, or pass the item on in cb_kwargs, with dont_filter"
            )
        if self.at_end:
            yield (
                f"spider {name!r}: closed reads {_shown(sorted(self.at_end))}, in which each "
                "worker has the part of its own pages; a feed (-O items.jl) has the items of all"
            )

    def _stay(self, name: str) -> str:
        attributes = sorted(set().union(*self.read_by.values()))
        return (
            f"spider {name!r}: callbacks change {_shown(attributes)}, and each worker "
            f"has its own: requests that a page yields for {', '.join(sorted(self.read_by))}, "
            "which reads that, stay in the page's worker; those of start() and of handlers go to "
            "any. Values in cb_kwargs instead let any worker take all"
        )


def _shown(names: Iterable[str]) -> str:
    return ", ".join(
        name if name.startswith((_GLOBAL, _SHARED, _STAT)) else f"self.{name}" for name in names
    )


def _name_of(call: Any, request: Request) -> str:
    rule = rule_of(call, request)
    if rule is not None:
        call = rule.callback if call == request.callback else rule.errback
    return call if isinstance(call, str) else str(getattr(call, "__name__", ""))


def own_state(kind: type) -> OwnState:
    """Analyse the source of a spider's own classes; without source nothing is known."""
    methods, texts = _methods_of(kind)
    callbacks = {"parse", *_HOOKS, *texts}
    for name, method in methods.items():
        if name not in _OUTSIDE:
            callbacks |= method.mentioned | method.texts
    callbacks &= methods.keys()
    _add_changes_of_objects(kind, methods)
    reached = {name: _reached(name, methods) for name in callbacks}
    wholes = {name: _whole(names, methods) for name, names in reached.items()}
    changed = set().union(*(whole.changed for whole in wholes.values())) - methods.keys()
    by_callback: defaultdict[str, set[str]] = defaultdict(set)
    gathered = gathering_callbacks({name: method.functions for name, method in methods.items()})
    for callback, names in reached.items():
        names_read = wholes[callback].read_names & changed
        names_read |= {_SHARED + key for name in names for key in gathered.get(name, ())}
        if names_read:
            by_callback[_HOOKS.get(callback, callback)] |= names_read
    leads = {name: callbacks & (whole.mentioned | whole.texts) for name, whole in wholes.items()}
    for callback, others in rings(leads).items():
        # The next page of a list reads what this one changed, and so must be where this one is.
        keys = [_HOOKS.get(other, other) for other in others]
        read_behind = set[str]().union(*(by_callback.get(key, ()) for key in keys))
        if names_read := wholes[callback].changed & read_behind:
            by_callback[_HOOKS.get(callback, callback)] |= names_read
    gathered_by_key = set[str]().union(*(whole.gathered_by_key for whole in wholes.values()))
    at_end = {x for name in _reached("closed", methods) for x in methods[name].read_names}
    return OwnState(
        {name: frozenset(names_read) for name, names_read in by_callback.items()},
        frozenset(gathered_by_key & set().union(*by_callback.values())),
        frozenset(at_end & changed),
    )


def own_to_pipelines(settings: BaseSettings) -> Iterator[str]:
    """Yield a log line for each state that the project's pipelines keep per worker."""
    for path, place in settings.getdict("ITEM_PIPELINES").items():
        kind = load_object(path) if place is not None else None
        if not isinstance(kind, type):
            continue
        methods, _ = _methods_of(kind)
        if any(method.opens for method in methods.values()):
            yield (
                f"pipeline {kind.__name__} opens a file to write it anew, and each worker does: in "
                "one folder they write over each other. A feed (-O items.jl) is one file of all"
            )
        if any(_empties(methods[x]) for start in _STARTS for x in _reached(start, methods)):
            yield (
                f"pipeline {kind.__name__} empties its store when a worker starts, and each worker "
                "does: it deletes what the others have stored, also in mid-crawl. Empty it before "
                "the crawl, or start one worker"
            )
        reached = [methods[name] for name in _reached("process_item", methods)]
        at_end = [methods[name] for name in _reached("close_spider", methods)]
        gathered = {x for method in reached for x in method.gathered}
        gathered &= {x for method in at_end for x in method.read_names}
        if gathered and not any(method.holds for method in methods.values()):
            yield (
                f"pipeline {kind.__name__} gathers items in {_shown(sorted(gathered))} and stores "
                "them later: a worker that is killed loses them, because their pages are done "
                "before. scrapy_seine.hold keeps a page open until its items are stored"
            )
        changed = {x for method in reached for x in method.changed}
        if names := sorted(changed & {x for method in reached for x in method.searched}):
            yield (
                f"pipeline {kind.__name__} remembers items in {_shown(names)}, and "
                "each worker has its own: an item that two workers find passes in both. A key in "
                "the store, or a set in Redis, knows the items of all"
            )


def _methods_of(kind: type) -> tuple[defaultdict[str, _Method], set[str]]:
    """Analyse the methods of a class' own classes, and the texts beside them, as rules hold.

    The functions of their modules are among the methods, as `name()`.
    """
    methods: defaultdict[str, _Method] = defaultdict(_Method)
    texts: set[str] = set()
    sources = [found for base in own_classes(kind) if (found := source_of(base)) is not None]
    classes = {source.tree.name for source in sources}
    for source in sources:
        for function in source.functions:
            methods[f"{function.name}()"].read(function, set(), source.variables)
        for part in source.tree.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                self_name = {x.arg for x in [*part.args.posonlyargs, *part.args.args][:1]}
                methods[part.name].read(part, self_name | classes, source.variables)
            else:
                texts |= {text for node in ast.walk(part) if (text := _text_of(node))}
                methods["__init__"].made |= _made_by(part)
    return methods, texts


def _made_by(node: ast.AST) -> set[tuple[str, str]]:
    """Return the attribute of `pager = Pager()` in a class, with the class that it is one of."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return set()
    made_of = getattr(node.value.func, "id", "")
    return {(x.id, made_of) for x in node.targets if isinstance(x, ast.Name)}


def _add_changes_of_objects(kind: type, methods: defaultdict[str, _Method]) -> None:
    """Add the attributes that a call of a method of their own changes: `self.pager.following()`.

    Only classes of the spider's own package are looked into, because a client of a database or of
    a site changes itself, too, and callbacks do not depend on that.
    """
    package = kind.__module__.partition(".")[0]
    modules = [sys.modules.get(base.__module__) for base in own_classes(kind)]
    changing: dict[str, set[str]] = {}
    for attribute, made_of in {pair for method in methods.values() for pair in method.made}:
        for found in (getattr(module, made_of, None) for module in modules):
            if isinstance(found, type) and found.__module__.partition(".")[0] == package:
                own, _ = _methods_of(found)
                changing[attribute] = {
                    name for name in list(own) if any(own[x].changed for x in _reached(name, own))
                }
    for method in methods.values():
        calls = method.called_on
        method.changed |= {name for name, called in calls if called in changing.get(name, ())}


def _text_of(node: ast.AST) -> str:
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and what it is a part of: `a.b[1]`, `a.b`, `a`.

    `a.setdefault(1, [])` is a part of `a`, too.
    """
    yield node
    while True:
        match node:
            case ast.Attribute(value=whole) | ast.Subscript(value=whole):
                node = whole
            case ast.Call(func=ast.Attribute(value=whole, attr="setdefault")):
                node = whole
            case _:
                return
        yield node


def _called_name(call: ast.Call) -> str:
    """Return the last part of the name that is called."""
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))


def _opens_anew(call: ast.Call) -> bool:
    """Whether a call is open(…, "w"), also of another module or of a path."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return _called_name(call) == "open" and any(
        set(_text_of(x)) <= set("wbt+") and "w" in _text_of(x) for x in values
    )


def _empties(method: _Method) -> bool:
    """Whether a method drops a table or a collection, or deletes all in it."""
    return method.deletes or any(map(_EMPTYING_SQL.match, method.texts))


def _reached(name: str, methods: defaultdict[str, _Method]) -> set[str]:
    """Return the methods that a callback calls, directly or not, with itself."""
    reached, to_visit = {name}, [name]
    while to_visit:
        for called in (methods[to_visit.pop()].called & methods.keys()) - reached:
            reached.add(called)
            to_visit.append(called)
    return reached


def _whole(names: Iterable[str], methods: Mapping[str, _Method]) -> _Method:
    """Return what methods do together."""
    whole = _Method()
    for name in names:
        whole.join(methods[name])
    return whole


class _Method:
    """What the methods of one name do with attributes of the spider."""

    def __init__(self) -> None:
        self.changed: set[str] = set()
        self.read_names: set[str] = set()
        self.called: set[str] = set()
        self.called_on: set[tuple[str, str]] = set()
        """Attributes with the methods of theirs that are called."""
        self.made: set[tuple[str, str]] = set()
        """Attributes with the names of the classes that their objects are of."""
        self.mentioned: set[str] = set()
        self.texts: set[str] = set()
        self.searched: set[str] = set()
        """Attributes in which a value is searched, by `in`."""
        self.gathered: set[str] = set()
        """Lists and queues that keep values for later."""
        self.gathered_by_key: set[str] = set()
        """Tables of such lists: `self.waiting[url].append(…)`."""
        self.holds = False
        """Whether a page is held until its items are durable, by `scrapy_seine.hold`."""
        self.functions: set[ast.FunctionDef | ast.AsyncFunctionDef] = set()
        self.deletes = False
        self.opens = False
        """Whether a file is opened to be overwritten."""

    def read(
        self,
        function: ast.FunctionDef | ast.AsyncFunctionDef,
        owners: set[str],
        variables: frozenset[str],
    ) -> None:
        """Analyse one function; *owners*: the names of the spider in it."""
        self.functions.add(function)
        with suppress(RecursionError):  # no real code nests so deep
            _Reader(self, owners, globals_of(function, variables)).look(function.body)

    def join(self, other: _Method) -> None:
        """Add what a part of the method does."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) | value)


class _Reader:
    """Walks through one function."""

    def __init__(self, found: _Method, owners: set[str], variables: frozenset[str]) -> None:
        self.method = found
        self.owners = owners
        self.variables = variables
        """Variables of the module, which a worker has for itself as well."""

    def look(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self._node(node)

    def _node(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            self._call(node.value, used=False)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return  # a docstring
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.Delete):
            self._assigned(node)
        elif isinstance(node, ast.AugAssign) and self._target(node.target):
            self.look([node.value])
        else:
            for name in self._attribute(node):
                self.method.mentioned.add(name)
                self.method.read_names.add(name)
            self.method.texts.add(_text_of(node))
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
                self.method.searched |= set(self._attribute(node.comparators[0]))
            self.look(ast.iter_child_nodes(node))

    def _call(self, call: ast.Call, *, used: bool = True) -> None:
        """Analyse a call; *used*: whether its value is used."""
        if self._reports(call.func):
            return
        self.method.opens |= _opens_anew(call)
        is_filtered = any(isinstance(x, ast.Dict) and x.keys for x in call.args)
        self.method.deletes |= _called_name(call) in _EMPTYING and not is_filtered
        self.method.holds |= _called_name(call) == "hold"
        self._named_in_text(call)
        called = set(self._attribute(call.func))
        self.method.called |= called
        self.method.read_names |= called
        if isinstance(call.func, ast.Name):
            self.method.called.add(f"{call.func.id}()")
        on = set(self._attribute(getattr(call.func, "value", call)))
        self.method.called_on |= {(name, _called_name(call)) for name in on}
        changed = self._changed_by(call)
        self.method.changed |= changed
        if not called and (used or not (changed or on)):
            self.look([call.func])
        self.look([*call.args, *call.keywords])

    def _assigned(self, node: ast.Assign | ast.AnnAssign | ast.Delete) -> None:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
        targets = [x for t in targets for x in (t.elts if isinstance(t, ast.Tuple) else [t])]
        names = {name for target in targets for name in self._target(target)}
        if isinstance(node, ast.Delete) or node.value is None:
            return
        made_of = getattr(getattr(node.value, "func", None), "id", "")
        self.method.made |= {(name, made_of) for name in names}
        inner = _Method()
        _Reader(inner, self.owners, self.variables).look([node.value])
        inner.read_names -= names  # self.n = self.n + 1 reads for itself
        self.method.join(inner)

    def _target(self, target: ast.AST) -> set[str]:
        """Record the attribute that is assigned, or of which a part is."""
        for node in _parts(target):
            if isinstance(node, ast.Subscript):
                self.look([node.slice])
        names = self._holders(target)
        self.method.changed |= names
        if not names:
            self._node(list(_parts(target))[-1])
        return names

    def _changed_by(self, call: ast.Call) -> set[str]:
        """Return the attribute that a call changes: a list's, a queue's or an iterator's."""
        func, name = call.func, _called_name(call)
        if name in _CHANGING_FIRST and call.args:
            return self._holders(call.args[0])
        changes = name in _CHANGING or (name == "get" and not call.args)  # a dict's get has a key
        names = self._holders(func.value) if changes and isinstance(func, ast.Attribute) else set()
        if name in _GATHERING and isinstance(func, ast.Attribute):
            self.method.gathered |= names
            self.method.gathered_by_key |= names - set(self._attribute(func.value))
        return names

    def _named_in_text(self, call: ast.Call) -> None:
        """Record what setattr(self, "page", …), getattr(self, "page") and calls of stats name."""
        name = _called_name(call)
        writes = name == "setattr" or name in _STAT_WRITES
        names = self.method.changed if writes else self.method.read_names
        match call.args:
            case [owner, ast.Constant(value=str(attribute)), *_] if name in {
                "getattr",
                "setattr",
            } and self._is_owner(owner):
                names.add(attribute)
            case [ast.Constant(value=str(stat)), *_] if name in {"get_value", *_STAT_WRITES}:
                names.add(_STAT + stat)

    def _holders(self, node: ast.AST) -> set[str]:
        """Return the attribute that a node is a part of: `pager` of `self.pager.pages[2]`."""
        for part in _parts(node):
            if names := set(self._attribute(part)):
                return names - _SCRAPYS
        return set()

    def _attribute(self, node: ast.AST) -> Iterator[str]:
        """Yield the attribute of the spider, or of its class, or the variable, that a node is."""
        if isinstance(node, ast.Attribute) and self._is_owner(node.value):
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in self.variables:
            yield _GLOBAL + node.id

    def _is_owner(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return node.attr == "__class__" and self._is_owner(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in {"type", "super"}
        return isinstance(node, ast.Name) and node.id in self.owners

    def _reports(self, func: ast.AST) -> bool:
        while isinstance(func, ast.Attribute):
            if func.attr in _TELLING:
                return True
            func = func.value
        return isinstance(func, ast.Name) and func.id in _TELLING
