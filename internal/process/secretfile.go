package process

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// fileSuffix ends the name of a variable that contains the name of a file with the value of a secret setting.
const fileSuffix = "_FILE"

// maxSecret bounds the size of such a file, in bytes.
const maxSecret = 64 << 10

// readSecret reads the file that a variable names. Line breaks at its end do not count.
func readSecret(variable, file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", variable, err)
	}
	if info.Size() > maxSecret {
		return "", fmt.Errorf("%s: file %s is larger than %d bytes", variable, file, maxSecret)
	}
	raw, err := os.ReadFile(file)
	text := strings.TrimRight(string(raw), "\r\n")
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", variable, err)
	case text == "":
		return "", fmt.Errorf("%s: file %s is empty", variable, file)
	}
	return text, nil
}

// HasSecretFiles reports whether a variable of the environment names a file with a secret setting.
func HasSecretFiles(environ []string) bool {
	return slices.ContainsFunc(Settings(), func(s Setting) bool {
		return (s.Secret || s.URL) && slices.ContainsFunc(environ, func(pair string) bool {
			return strings.HasPrefix(pair, s.Env+fileSuffix+"=")
		})
	})
}

// Secret returns the value of the variable TIMERBUS_name, or the content of the file that TIMERBUS_name_FILE names. It is
// empty if neither is set.
func Secret(name string) (string, error) {
	variable := EnvPrefix + name
	if file := os.Getenv(variable + fileSuffix); file != "" && os.Getenv(variable) == "" {
		return readSecret(variable+fileSuffix, file)
	}
	return os.Getenv(variable), nil
}
