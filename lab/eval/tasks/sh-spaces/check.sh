set -euo pipefail
mkdir -p "/tmp/a b/sub dir"
printf 123 > "/tmp/a b/one two"
printf 12345 > "/tmp/a b/-n"
printf 1 > "/tmp/a b/sub dir/x"
printf 1234 > "/tmp/a b/star*"
printf 1 > "/tmp/a b/starry"
diff <(./sizes.sh "/tmp/a b") <(printf '5 -n\n3 one two\n4 star*\n1 starry\n1 sub dir/x\n')
./sizes.sh "/tmp/a b/sub dir" | grep -qx "1 x"
