package process

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-viper/mapstructure/v2"
	"github.com/knadh/koanf/v2"
	"go.yaml.in/yaml/v3"

	"github.com/timerbus/timerbus/pkg/timer"
)

// EnvPrefix begins the names of environment variables that are settings.
const EnvPrefix = "TIMERBUS_"

// Sources are the sources of settings, in descending precedence.
type Sources struct {
	// Flags are the given flags, by setting.
	Flags map[string]string
	// Environ is os.Environ().
	Environ []string
	// File is the name of a YAML (or JSON) file; empty for none.
	File string
	// Defaults, if not nil, replace DefaultConfig.
	Defaults *Config
	// Foreign are variable names after EnvPrefix that are not settings but have another meaning in this program.
	Foreign []string
}

// Setting is one field of Config.
type Setting struct {
	Name, Env, Usage string
	// Default is DefaultConfig's value as text.
	Default string
	// Switch means that the setting is true or false.
	Switch bool
	// Secret means that its value is never shown.
	Secret bool
	// URL means that its value is a URL, which may contain a password.
	URL bool
}

// Origin is the kind of source that sets a setting.
type Origin string

const (
	FromDefault     Origin = "default"
	FromFile        Origin = "file"
	FromEnvironment Origin = "environment"
	FromFlag        Origin = "flag"
)

// Value is the effective value of a setting.
type Value struct {
	Setting

	// Text may be secret or contain a password.
	Text   string
	Origin Origin
	// Source names the line of the file, the variable or the flag; empty for a default.
	Source string
}

// Settings lists the fields of Config in their order.
func Settings() []Setting {
	defaults := DefaultConfig()
	return SettingsOf(&defaults)
}

// SettingsOf is Settings with other defaults.
func SettingsOf(config *Config) []Setting {
	defaults := reflect.ValueOf(*config)
	settings := make([]Setting, 0, defaults.NumField())
	for i := range defaults.NumField() {
		field := defaults.Type().Field(i)
		name := field.Tag.Get("koanf")
		settings = append(settings, Setting{
			Name: name, Env: envOf(name), Usage: field.Tag.Get("usage"),
			Default: fmt.Sprint(defaults.Field(i).Interface()), Switch: field.Type.Kind() == reflect.Bool,
			Secret: field.Tag.Get("secret") == "true", URL: field.Tag.Get("secret") == "url",
		})
	}
	return settings
}

func envOf(name string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Load merges the sources and checks the result. An unknown key is an error: a misspelt setting would otherwise
// silently get its default.
func Load(from Sources) (Config, error) {
	config, _, err := Explain(from)
	if err != nil {
		return Config{}, err
	}
	return config, config.Check()
}

// Explain is Load without the check of the result. It also returns the value of each setting and its source, in the order
// of Settings.
func Explain(from Sources) (Config, []Value, error) {
	k := koanf.New(".")
	file, err := readFile(from.File)
	if err != nil {
		return Config{}, nil, err
	}
	environ, secretFiles, err := readEnviron(from.Environ, from.Foreign)
	if err != nil {
		return Config{}, nil, err
	}
	flags := make(values, len(from.Flags))
	for name, value := range from.Flags {
		flags[name] = value
	}
	type source struct {
		Origin

		name string
	}
	sources := map[string]source{}
	for _, given := range []struct {
		origin Origin
		values values
		name   func(key string) string
	}{
		{FromFile, file, func(key string) string { return fmt.Sprintf("%s: %s", from.File, key) }},
		{FromEnvironment, environ, func(key string) string { return cmp.Or(secretFiles[key], envOf(key)) }},
		{FromFlag, flags, func(key string) string { return "--" + key }},
	} {
		if err := given.values.check(given.name); err != nil {
			return Config{}, nil, err
		}
		if err := k.Load(given.values, nil); err != nil {
			return Config{}, nil, fmt.Errorf("load configuration: %w", err)
		}
		for key := range given.values {
			sources[key] = source{given.origin, given.name(key)}
		}
	}
	config := DefaultConfig()
	if from.Defaults != nil {
		config = *from.Defaults
	}
	if err := decode(k, &config); err != nil {
		return Config{}, nil, fmt.Errorf("load configuration: %w", err)
	}
	settings := SettingsOf(&config) // the "defaults" are the effective values
	explained := make([]Value, len(settings))
	for i, s := range settings {
		set := sources[s.Name]
		explained[i] = Value{Setting: s, Text: s.Default, Origin: cmp.Or(set.Origin, FromDefault), Source: set.name}
	}
	return config, explained, nil
}

func readFile(name string) (values, error) {
	if name == "" {
		return values{}, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	var read values
	if err := yaml.Unmarshal(raw, &read); err != nil {
		return nil, fmt.Errorf("read configuration %s: want YAML with one setting per line: %w", name, err)
	}
	return read, nil
}

// readEnviron returns the settings in the environment. files names the variables of those that were read from files.
func readEnviron(environ, foreign []string) (read values, files map[string]string, err error) {
	known, inFiles := map[string]string{}, map[string]string{}
	for _, s := range Settings() {
		known[s.Env] = s.Name
		if s.Secret || s.URL {
			inFiles[s.Env+fileSuffix] = s.Name
		}
	}
	read, files = values{}, map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		rest, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours || slices.Contains(foreign, rest) || fromKubernetes(rest, value) {
			continue
		}
		key, ok := known[name]
		if inFile, secret := inFiles[name]; secret {
			key, ok = inFile, true
			files[key] = name
			if value, err = readSecret(name, value); err != nil {
				return nil, nil, err
			}
		}
		if !ok {
			return nil, nil, fmt.Errorf("%s is not a setting: want one of %s", name, list(known))
		}
		if _, twice := read[key]; twice {
			return nil, nil, fmt.Errorf("%s and %s exclude each other", envOf(key), envOf(key)+fileSuffix)
		}
		read[key] = value
	}
	return read, files, nil
}

func list[V any](names map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// values implements koanf.Provider.
type values map[string]any

func (v values) ReadBytes() ([]byte, error) {
	return nil, errors.New("values are parsed already")
}

func (v values) Read() (map[string]any, error) { return v, nil }

// check returns an error about keys that are not settings and values of wrong types. It names them as in their source.
func (v values) check(name func(key string) string) error {
	known := map[string]Setting{}
	for _, s := range Settings() {
		known[s.Name] = s
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		setting, ok := known[key]
		if !ok {
			return fmt.Errorf("%s is not a setting: want one of %s", name(key), list(known))
		}
		if v[key] == nil || !decodes(key, v[key]) {
			shown := strconv.Quote(fmt.Sprint(v[key]))
			if setting.Secret {
				shown = "the given value"
			}
			return fmt.Errorf("%s: %s is not accepted: want %s", name(key), shown, wanted(setting))
		}
	}
	return nil
}

func decodes(key string, value any) bool {
	k := koanf.New(".")
	return k.Load(values{key: value}, nil) == nil && decode(k, &Config{}) == nil
}

func wanted(s Setting) string {
	if s.Switch {
		return "true or false"
	}
	return s.Usage + ", such as " + s.Default
}

// decode is strict about durations: a bare number would be nanoseconds.
func decode(k *koanf.Koanf, to *Config) error {
	return k.UnmarshalWithConf("", to, koanf.UnmarshalConf{DecoderConfig: &mapstructure.DecoderConfig{
		TagName: "koanf", Result: to,
		WeaklyTypedInput: true, // flags and environment are text
		DecodeHook:       mapstructure.DecodeHookFuncType(duration),
	}})
}

func duration(_, to reflect.Type, value any) (any, error) {
	if to != reflect.TypeFor[time.Duration]() {
		return value, nil
	}
	text, ok := value.(string)
	if !ok {
		return nil, fmt.Errorf("%v has no unit", value)
	}
	return timer.ParseDuration(text)
}
