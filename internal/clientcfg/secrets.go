package clientcfg

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Secret is a value in a file that must not be displayed.
type Secret struct {
	Name  string // name of the variable, key or flag, or "token" or "password"; empty if it is uncertain whether the value is a secret
	Value string
}

var (
	// secretName matches names of variables, headers, keys and flags whose values are secret.
	secretName = regexp.MustCompile(`(?i)token|secret|passw|key|auth|credential|cookie|\bpat\b|_pat$|dsn|connection|(^|[^a-z])pass(phrase|code)?$|[_-]pwd$|(?-i:^pwd$)|bearer|^sig$|signature`)
	// locationName matches names of values that only specify where a secret is stored.
	locationName = regexp.MustCompile(`(?i)(file|path|dir|sock|ur[li])$`)
	// placeValue matches a path, or a URL without a user or a query.
	placeValue = regexp.MustCompile(`^(\.{0,2}/|~/|[A-Za-z]:[\\/]|https?://)[^?#@=]*$`)
	// plainWords matches values that are not secret: plain words, or an address with a port.
	plainWords = regexp.MustCompile(`^[A-Za-z]{1,15}([-_., ][A-Za-z]{1,15})*$|^[\d.]+:\d+$`)
	// randomPart matches a sequence of characters that only a machine would generate.
	randomPart = regexp.MustCompile(`[A-Za-z0-9+_-]{20,}`)
	// short matches the option -p, whose value is often a password. ports matches values of -p that
	// are not passwords: ports, paths and packages.
	short = regexp.MustCompile(`^-p$`)
	// joined matches the option -p with an attached value. It does not match long options such as
	// -path or -pull-request.
	joined = regexp.MustCompile(`^-p(\S*[A-Z0-9]\S*)$`)
	ports  = regexp.MustCompile(`^[\d:.,/-]*(tcp|udp)?$|^@?[\w.-]*/|@|^[.~-]`)
	// account matches options whose value has the form user:password, and pair matches such a
	// value.
	account = regexp.MustCompile(`^(-u|--user|--proxy-user)$`)
	pair    = regexp.MustCompile(`^[^\s:/]+:(.*[^\d].*)$`)
	// reference matches references to values that are stored elsewhere. It also matches the name of
	// an authentication scheme at the start of a string.
	reference = regexp.MustCompile(`(?i)\$\{\{[^}]*\}\}|\$\{[^}]*\}|\$[a-z_][a-z0-9_]*|\{(env|file):[^}]*\}|^(bearer|basic|token) `)
	// certainReference matches only unambiguous references. A $ followed by a name is ambiguous,
	// because it may be part of a secret.
	certainReference = regexp.MustCompile(`(?i)\$\{\{[^}]*\}\}|\$\{[^}]*\}|\{(env|file):[^}]*\}|^(bearer|basic|token) `)
	// assigned is a pattern for assignments of the form NAME=value in arguments, URLs and
	// connection strings.
	assigned = regexp.MustCompile(`([\w.-]+)=([^\s;&#]+)`)
	// headerForm matches a header passed as an argument.
	headerForm = regexp.MustCompile(`^([A-Za-z][\w-]+): *(.+)$`)
	// password matches the password in a URL.
	password = regexp.MustCompile(`://[^/\s:@]*:([^/\s@]+)@`)
	// urlUser matches the user in an HTTP URL without a password. Such a user is a token.
	urlUser = regexp.MustCompile(`(?i)https?://([^/\s:@]+)@`)
	// hook matches the secret part of a webhook URL. Anyone who knows it can post to the webhook.
	hook = regexp.MustCompile(`(?i)(?:hooks\.slack\.com/\w+|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|\.webhook\.office\.com|hooks\.zapier\.com/hooks/\w+)/?([^\s?#"]+)`)
	// token matches secrets that are recognizable by their form.
	token = regexp.MustCompile(`\b(sk-|gh[pousr]_|github_pat_|xox[abeprs]-|glpat-|AKIA|AIza|npm_|hf_|eyJ)[\w.-]{8,}`)
	// option matches an option without an attached value, which may take the next argument as its
	// value.
	option = regexp.MustCompile(`^--?[A-Za-z][\w-]*$`)
)

// valueKeys lists the keys of mappings where every value may be secret, such as the mappings of
// variables and headers.
var valueKeys = []string{"env", "envs", "environment", "headers", "http_headers"}

// nameKeys lists the keys whose values are names of variables and therefore not secret.
var nameKeys = []string{"bearer_token_env_var", "env_http_headers", "env_vars", "env_keys"}

const (
	minSecret = 4 // minimum length of a part of a secret to hide; shorter parts also occur in ordinary text
	minValue  = 8 // minimum length of a value that counts as a secret regardless of its name
)

// Secrets returns all values that may be secret in the decoded content of a file.
func Secrets(tree any) (all []Secret) {
	switch t := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			fields, ok := t[key].(map[string]any)
			switch {
			case slices.Contains(nameKeys, key):
			case ok && slices.Contains(valueKeys, strings.ToLower(key)):
				all = append(all, secretValues(fields, strings.Contains(strings.ToLower(key), "headers"))...)
			default:
				all = append(all, secretUnder(key, t[key])...)
			}
		}
	case []any:
		for i, v := range t {
			before := ""
			if i > 0 {
				before, _ = t[i-1].(string)
			}
			if !option.MatchString(before) {
				before = ""
			}
			all = append(all, secretUnder(before, v)...)
		}
	}
	return all
}

// secretUnder returns the secrets in v, the value of a key or flag with the given name.
func secretUnder(name string, v any) []Secret {
	text, ok := written(v)
	switch {
	case !ok:
		return Secrets(v)
	case account.MatchString(name) && pair.MatchString(text):
		return writtenParts("password", pair.FindStringSubmatch(text)[1])
	case short.MatchString(name) && !ports.MatchString(text):
		return writtenParts("", text)
	case secretName.MatchString(name) && !option.MatchString(text) && !(locationName.MatchString(name) && isPlace(text)):
		return writtenParts(name, text)
	}
	return secretsWithin(text)
}

// secretValues returns the values that may be secret in a mapping of variables or headers. In
// headers, even plain words may be secret, because most headers identify the caller.
func secretValues(fields map[string]any, headers bool) (all []Secret) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := written(fields[name])
		switch {
		case locationName.MatchString(name) && isPlace(text):
		case secretName.MatchString(name):
			all = append(all, writtenParts(name, text)...)
		case len(secretsWithin(text)) > 0:
			all = append(all, secretsWithin(text)...)
		case len(text) >= minValue && !isPlace(text) && (headers || !plainWords.MatchString(text)):
			all = append(all, writtenParts("", text)...)
		}
	}
	return all
}

// isPlace reports whether the text is a path or a URL without a secret.
func isPlace(text string) bool {
	return placeValue.MatchString(text) && !randomPart.MatchString(text) && len(secretsWithin(text)) == 0
}

// written returns the text of a string, or of a number as spelled in the file.
func written(v any) (text string, ok bool) {
	if n, is := v.(json.Number); is {
		return n.String(), true
	}
	text, ok = v.(string)
	return text, ok
}

// secretsWithin returns the secret parts of the text.
func secretsWithin(text string) (all []Secret) {
	for _, m := range assigned.FindAllStringSubmatch(text, -1) {
		switch {
		case secretName.MatchString(m[1]):
			all = append(all, writtenParts(m[1], m[2])...)
		case strings.Contains(m[2], "="): // the value contains another assignment, as in --url=https://x/?sig=y
			all = append(all, secretsWithin(m[2])...)
		}
	}
	if m := headerForm.FindStringSubmatch(text); m != nil && secretName.MatchString(m[1]) {
		all = append(all, writtenParts(m[1], m[2])...)
	}
	if m := joined.FindStringSubmatch(text); m != nil && !ports.MatchString(m[1]) {
		all = append(all, writtenParts("password", m[1])...)
	}
	for _, m := range password.FindAllStringSubmatch(text, -1) {
		all = append(all, writtenParts("password", m[1])...)
	}
	for _, found := range []*regexp.Regexp{urlUser, hook} {
		for _, m := range found.FindAllStringSubmatch(text, -1) {
			all = append(all, writtenParts("token", m[1])...)
		}
	}
	for _, value := range token.FindAllString(text, -1) {
		all = append(all, writtenParts("token", value)...)
	}
	return all
}

// writtenParts returns the parts of a secret that are written in the file itself. It omits
// references to values stored elsewhere, so that users can still see the references. It also omits
// parts shorter than minSecret.
func writtenParts(name, value string) (all []Secret) {
	if strings.TrimSpace(reference.ReplaceAllString(value, "")) == "" {
		return nil
	}
	for _, part := range certainReference.Split(value, -1) {
		if len(strings.TrimSpace(part)) >= minSecret {
			all = append(all, Secret{name, part})
		}
	}
	return all
}
