package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxExposed is the maximum length of a tool name that all known clients accept.
const maxExposed = 64

// exposable contains the characters that all known clients accept in tool names.
const exposable = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

// Valid reports whether the name is valid in all revisions of the MCP specification, even the
// strictest: 1 to 128 characters of [A-Za-z0-9_./-].
func Valid(name string) bool {
	return name != "" && len(name) <= 128 && strings.Trim(name, exposable+"./") == ""
}

// Prefix returns the prefix that clients see in the names of a server's tools. It is the configured
// prefix and an underscore or, by default, the server's name and an underscore. The result is "" if
// an empty prefix is configured, or if the server is the only one and no prefix is configured.
func Prefix(server, prefix string, configured, alone bool) string {
	switch {
	case configured && prefix == "" || !configured && alone:
		return ""
	case configured:
		return prefix + "_"
	default:
		return server + "_"
	}
}

// Exposed returns the name that clients see for a tool: at most 64 characters of [A-Za-z0-9_-]. If
// that name differs from prefix+name, it contains a hash of prefix+name to make it unique.
func Exposed(prefix, name string) string {
	full := prefix + name
	safe := []byte(full)
	for i, c := range safe {
		if strings.IndexByte(exposable, c) < 0 {
			safe[i] = '_'
		}
	}
	if string(safe) == full && len(full) <= maxExposed {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	suffix := "_" + hex.EncodeToString(sum[:4])
	if keep := maxExposed - len(suffix); len(safe) > keep {
		safe = safe[:keep]
	}
	return string(safe) + suffix
}
