set -euo pipefail
check_go <<'EOF'
package task

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

func TestErrors(t *testing.T) {
	folder := t.TempDir()
	_, err := Load(filepath.Join(folder, "none"))
	if !errors.Is(err, fs.ErrNotExist) || err.Error() != "load: open "+filepath.Join(folder, "none")+": no such file or directory" {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "text")
	os.WriteFile(file, []byte("x\n"), 0o600)
	_, err = Load(file)
	var number *strconv.NumError
	if !errors.As(err, &number) || err.Error() != "load "+file+": strconv.Atoi: parsing \"x\": invalid syntax" {
		t.Fatal(err)
	}
	os.WriteFile(file, []byte(" 7\n"), 0o600)
	if value, err := Load(file); value != 7 || err != nil {
		t.Fatal(value, err)
	}
}
EOF
