set -euo pipefail
python3 -m unittest discover -q
check_python <<'EOF'
from shop.cart import Cart
one, two = Cart(), Cart()
one.add("tea", 3)
assert two.items == [] and one.total() == 3
own = [("cup", 4)]
Cart(own).add("tea", 3)
assert own == [("cup", 4)]
EOF
