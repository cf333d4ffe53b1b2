package wire

import (
	"strings"
	"unicode/utf8"
)

// Parsers that match keys without regard to case would read a key like "Name"
// or "argument\u017f" as one of the protocol's. A key that folds to a known one
// and is not equal to it is refused, so that nobody reads what we did not.

// A keySet has the known keys by what they fold to. None is ever changed.
type keySet map[string]string

func keysOf(keys ...string) keySet {
	set := keySet{}
	for _, key := range keys {
		set[strings.ToLower(key)] = key
	}
	return set
}

var (
	envelopeKeys = keysOf("jsonrpc", "id", "method", "params", "result", "error")

	// paramKeys are the members of params that the proxy, or mcp-go behind
	// it, reads in any method.
	paramKeys = keysOf(
		"name", "arguments", "_meta", "task", "inputResponses", "requestState", "cursor", "uri", "level",
		"ref", "argument", "context", "requestId", "taskId", "reason", "progressToken", "progress", "total",
		"message", "protocolVersion", "capabilities", "clientInfo", "notifications",
	)

	// metaKeys are the members of _meta that belong to one hop, and the handle of a task.
	metaKeys = keysOf(
		keyProgressToken, keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel,
		keyServerInfo, keySubscriptionID, keyRelatedTask,
	)

	// resultKeys are the members of a result that say how a call ended.
	resultKeys = keysOf("isError", "resultType", "task")

	// taskKeys are the members of a task that say where it stands.
	taskKeys = keysOf("taskId", "status", "ttl", "ttlMs", "pollInterval", "pollIntervalMs", "result", "error")
)

// variantOf returns the one of the known keys that key is a variant of, or "".
func variantOf(key []byte, known keySet) string {
	var buf [maxKnown]byte
	folded, ok := fold(buf[:0], key)
	if !ok {
		return ""
	}
	if k := known[string(folded)]; k != string(key) {
		return k
	}
	return ""
}

// maxKnown is the length of the longest known key, and more.
const maxKnown = 64

// fold appends key with the letters that fold to ASCII ones replaced by the
// lower-case ASCII ones, two of which are longer; false: it does not fit, so it is no variant of
// anything known.
func fold(dst, key []byte) ([]byte, bool) {
	for i := 0; i < len(key); {
		c, size := key[i], 1
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c >= utf8.RuneSelf:
			var r rune
			switch r, size = utf8.DecodeRune(key[i:]); r {
			case '\u017f': // long s
				c = 's'
			case '\u212a': // Kelvin sign
				c = 'k'
			default:
				return nil, false
			}
		}
		if len(dst) == cap(dst) {
			return nil, false
		}
		dst = append(dst, c)
		i += size
	}
	return dst, true
}
