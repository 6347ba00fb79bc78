"""Labels of a product's choices, which use the word for "available"."""

import pytest

from tests.unit.extract.bodies import H1, found


@pytest.mark.parametrize(
    "label", ["Elérhető színek", "Dostępne kolory", "Dostupné barvy", "Culori disponibile"]
)
def test_a_label_of_choices_is_no_stock(label):
    body = f"{H1}<p class=price>12.00 €</p><p>{label}:</p><p>X</p>"
    assert "availability" not in found(body).fields


def test_a_label_of_choices_behind_the_stock_leaves_it():
    body = f"{H1}<p class=price>12.00 €</p><p>In stock <b>Sizes:</b> S, M</p>"
    assert found(body).fields["availability"] == "InStock"
