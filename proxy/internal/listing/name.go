package listing

import "github.com/petrigate/petrigate/proxy/internal/wire"

// maxExposed is how long a tool name may be in every known client.
const maxExposed = 64

// validName is what the revisions of the protocol allow at the most.
func validName(name string) bool {
	if name == "" || len(name) > 128 {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !exposable(c) && c != '.' && c != '/' {
			return false
		}
	}
	return true
}

func exposable(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// ExposedName is the name for clients: 64 characters of [A-Za-z0-9_-]. Where
// that changes the name, a hash of the whole keeps it apart from others.
func ExposedName(prefix, name string) string {
	full := prefix + name
	safe := []byte(full)
	for i, c := range safe {
		if !exposable(c) {
			safe[i] = '_'
		}
	}
	if string(safe) == full && len(full) <= maxExposed {
		return full
	}
	suffix := "_" + wire.Digest([]byte(full))[:8]
	if keep := maxExposed - len(suffix); len(safe) > keep {
		safe = safe[:keep]
	}
	return string(safe) + suffix
}
