package task

import (
	"errors"
	"os"
	"strconv"
	"strings"
)

// Load reads a number from a file.
func Load(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, errors.New("load: " + err.Error())
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0, errors.New("load " + path + ": " + err.Error())
	}
	return number, nil
}
