"""Arithmetic of sweep files: "576 * units", "chips <= 4096 and stage != 3"."""

import ast
import math
import operator

from sweeping import UserError

_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_FUNCTIONS = {"min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "round": round, "gcd": math.gcd, "lcm": math.lcm, "text": str}


def evaluate(text, names, where):
    """The value of the expression, a whole number where it is one. Raises UserError that begins with `where`."""
    try:
        value = _value(ast.parse(text, mode="eval").body, names)
    except SyntaxError:
        raise UserError(f"{where}: {text!r} is no expression") from None
    except (TypeError, ArithmeticError, ValueError) as error:
        raise UserError(f"{where}: {text!r}: {error}") from None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _value(node, names):
    match node:
        case ast.Constant(value=int() | float() | str() | bool() as value):
            return value
        case ast.Name(id=name):
            if name not in names:
                raise ValueError(f"there is no {name}; there are {', '.join(sorted(names))}")
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, names)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not _value(operand, names)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _OPERATIONS:
            return _OPERATIONS[type(operation)](_value(left, names), _value(right, names))
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(value, names) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_value(value, names) for value in values)
        case ast.Compare(left=left, ops=operations, comparators=rights):
            left = _value(left, names)
            for operation, right in zip(operations, rights):
                right = _value(right, names)
                if not _OPERATIONS[type(operation)](left, right):
                    return False
                left = right
            return True
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            return _value(body if _value(test, names) else otherwise, names)
        case ast.List(elts=values) | ast.Tuple(elts=values):
            return [_value(value, names) for value in values]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, names) for argument in arguments))
    raise ValueError("only numbers, text, names, + - * / // %, comparisons, and, or, not, in, if else, " + ", ".join(_FUNCTIONS))
