package clientcfg

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A Secret is a value in a file that no screen should show.
type Secret struct {
	Name  string // of what says that it is one; "": it may be one, as any value of a variable or a header
	Value string
}

var (
	// secretName finds names of variables, headers, keys and flags whose values are secrets.
	secretName = regexp.MustCompile(`(?i)token|secret|passw|key|auth|credential|cookie|\bpat\b|_pat$|dsn|connection|(^|[^a-z])pass(phrase|code)?$|[_-]pwd$|(?-i:^pwd$)|bearer|^sig$|signature`)
	// located finds names of what only says where a secret is.
	located = regexp.MustCompile(`(?i)(file|path|dir|sock|ur[li])$`)
	// place is a path, or an address without a user or a query, and without a part that only a machine would write.
	place = regexp.MustCompile(`^(\.{0,2}/|~/|[A-Za-z]:[\\/]|https?://)[^?#@=]*$`)
	// words are what a person would write that is no secret: words, or the address of a port.
	words = regexp.MustCompile(`^[A-Za-z]{1,15}([-_., ][A-Za-z]{1,15})*$|^[\d.]+:\d+$`)
	// random is a part that only a machine would write.
	random = regexp.MustCompile(`[A-Za-z0-9+_-]{20,}`)
	// short is an option that is often a password, and ports is what else comes after it: ports, paths and packages.
	short = regexp.MustCompile(`^-p$`)
	// joined is that flag with its value, which no option of a whole word is: -path, -pull-request.
	joined = regexp.MustCompile(`^-p(\S*[A-Z0-9]\S*)$`)
	ports  = regexp.MustCompile(`^[\d:.,/-]*(tcp|udp)?$|^@?[\w.-]*/|@|^[.~-]`)
	// account is an option with a user and a password, and pair is such a value.
	account = regexp.MustCompile(`^(-u|--user|--proxy-user)$`)
	pair    = regexp.MustCompile(`^[^\s:/]+:(.*[^\d].*)$`)
	// reference finds what stands for a value that is elsewhere, and what may stand beside it.
	reference = regexp.MustCompile(`(?i)\$\{\{[^}]*\}\}|\$\{[^}]*\}|\$[a-z_][a-z0-9_]*|\{(env|file):[^}]*\}|^(bearer|basic|token) `)
	// elsewhere finds of that what nothing else could be; a $ before a name may be a part of a secret.
	elsewhere = regexp.MustCompile(`(?i)\$\{\{[^}]*\}\}|\$\{[^}]*\}|\{(env|file):[^}]*\}|^(bearer|basic|token) `)
	// assigned finds NAME=value, as arguments, URLs and connection strings have it.
	assigned = regexp.MustCompile(`([\w.-]+)=([^\s;&#]+)`)
	// headed is a header as an argument has it.
	headed = regexp.MustCompile(`^([A-Za-z][\w-]+): *(.+)$`)
	// password is that of a URL.
	password = regexp.MustCompile(`://[^/\s:@]*:([^/\s@]+)@`)
	// user is what stands for one in an address of HTTP, with no password: a token.
	user = regexp.MustCompile(`(?i)https?://([^/\s:@]+)@`)
	// hook finds the part of the address of a hook by which anyone can call it.
	hook = regexp.MustCompile(`(?i)(?:hooks\.slack\.com/\w+|discord(?:app)?\.com/api/webhooks|api\.telegram\.org/bot|\.webhook\.office\.com|hooks\.zapier\.com/hooks/\w+)/?([^\s?#"]+)`)
	// token finds what is a secret by its own form.
	token = regexp.MustCompile(`\b(sk-|gh[pousr]_|github_pat_|xox[abeprs]-|glpat-|AKIA|AIza|npm_|hf_|eyJ)[\w.-]{8,}`)
	// option is an argument whose value is the next one.
	option = regexp.MustCompile(`^--?[A-Za-z][\w-]*$`)
)

// ofPeople are the keys of variables and headers: any value may be a secret there.
var ofPeople = []string{"env", "envs", "environment", "headers", "http_headers"}

// ofNames are the keys of names of variables, which are no secrets.
var ofNames = []string{"bearer_token_env_var", "env_http_headers", "env_vars", "env_keys"}

const (
	shortestSecret = 4 // a shorter one would be found everywhere
	shortestValue  = 8 // not a port, and not true
)

// Secrets are what may be a secret anywhere in a decoded file.
func Secrets(tree any) (all []Secret) {
	switch t := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			fields, ok := t[key].(map[string]any)
			switch {
			case slices.Contains(ofNames, key):
			case ok && slices.Contains(ofPeople, strings.ToLower(key)):
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

// secretUnder are the secrets in a value that has a key, or comes after a flag.
func secretUnder(name string, v any) []Secret {
	text, ok := written(v)
	switch {
	case !ok:
		return Secrets(v)
	case account.MatchString(name) && pair.MatchString(text):
		return named("password", pair.FindStringSubmatch(text)[1])
	case short.MatchString(name) && !ports.MatchString(text):
		return named("", text)
	case secretName.MatchString(name) && !option.MatchString(text) && !(located.MatchString(name) && isPlace(text)):
		return named(name, text)
	}
	return secretsWithin(text)
}

// secretValues are the values of variables or headers. Words in a header are what identifies somebody, more often than not.
func secretValues(fields map[string]any, headers bool) (all []Secret) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _ := written(fields[name])
		switch {
		case located.MatchString(name) && isPlace(text):
		case secretName.MatchString(name):
			all = append(all, named(name, text)...)
		case len(secretsWithin(text)) > 0:
			all = append(all, secretsWithin(text)...)
		case len(text) >= shortestValue && !isPlace(text) && (headers || !words.MatchString(text)):
			all = append(all, named("", text)...)
		}
	}
	return all
}

// isPlace reports whether a text is the path of a file or an address, and nothing in it is a secret.
func isPlace(text string) bool {
	return place.MatchString(text) && !random.MatchString(text) && len(secretsWithin(text)) == 0
}

// written is a text or a number as it stands in the file.
func written(v any) (text string, ok bool) {
	if n, is := v.(json.Number); is {
		return n.String(), true
	}
	text, ok = v.(string)
	return text, ok
}

// secretsWithin are parts of a text.
func secretsWithin(text string) (all []Secret) {
	for _, m := range assigned.FindAllStringSubmatch(text, -1) {
		switch {
		case secretName.MatchString(m[1]):
			all = append(all, named(m[1], m[2])...)
		case strings.Contains(m[2], "="): // --url=https://x/?sig=y
			all = append(all, secretsWithin(m[2])...)
		}
	}
	if m := headed.FindStringSubmatch(text); m != nil && secretName.MatchString(m[1]) {
		all = append(all, named(m[1], m[2])...)
	}
	if m := joined.FindStringSubmatch(text); m != nil && !ports.MatchString(m[1]) {
		all = append(all, named("password", m[1])...)
	}
	for _, m := range password.FindAllStringSubmatch(text, -1) {
		all = append(all, named("password", m[1])...)
	}
	for _, found := range []*regexp.Regexp{user, hook} {
		for _, m := range found.FindAllStringSubmatch(text, -1) {
			all = append(all, named("token", m[1])...)
		}
	}
	for _, value := range token.FindAllString(text, -1) {
		all = append(all, named("token", value)...)
	}
	return all
}

// named are the parts of a secret that are written out. What refers to another value is not one of them: a
// person has to see what will be read.
func named(name, value string) (all []Secret) {
	if strings.TrimSpace(reference.ReplaceAllString(value, "")) == "" {
		return nil
	}
	for _, part := range elsewhere.Split(value, -1) {
		if len(strings.TrimSpace(part)) >= shortestSecret {
			all = append(all, Secret{name, part})
		}
	}
	return all
}
