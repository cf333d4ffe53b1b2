package wire

import "unicode/utf8"

// Parsers that match keys without regard to case would read a key like "Name"
// or "argument\u017f" as one of the protocol's. A key that folds to a known one
// and is not equal to it is refused, so that nobody reads what we did not.

// The known keys, none of which is ever changed.
var (
	envelopeKeys = [...]string{"jsonrpc", "id", "method", "params", "result", "error"}

	// paramKeys are the members of params that the proxy, or mcp-go behind
	// it, reads in any method.
	paramKeys = [...]string{
		"name", "arguments", "_meta", "task", "inputResponses", "requestState", "cursor", "uri", "level",
		"ref", "argument", "context", "requestId", "taskId", "reason", "progressToken", "progress", "total",
		"message", "protocolVersion", "capabilities", "clientInfo", "notifications",
	}

	// metaKeys are the members of _meta that belong to one hop, and the handle of a task.
	metaKeys = [...]string{
		keyProgressToken, keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel,
		keyServerInfo, keySubscriptionID, keyRelatedTask,
	}

	// resultKeys are the members of a result that say how a call ended.
	resultKeys = [...]string{"isError", "resultType", "task"}

	// taskKeys are the members of a task that say where it stands.
	taskKeys = [...]string{"taskId", "status", "ttl", "ttlMs", "pollInterval", "pollIntervalMs", "result", "error"}
)

// variantOf returns the one of the known keys that key is a variant of, or "".
func variantOf(key []byte, known []string) string {
	var buf [maxKnown]byte
	folded, ok := fold(buf[:0], key)
	if !ok {
		return ""
	}
	for _, k := range known {
		if len(k) == len(folded) && foldsTo(k, folded) {
			if k == string(key) {
				return ""
			}
			return k
		}
	}
	return ""
}

// foldsTo reports whether the ASCII string k folds to folded, which is as long.
func foldsTo(k string, folded []byte) bool {
	for i := range folded {
		c := k[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}

// maxKnown is the length of the longest known key, and more.
const maxKnown = 64

// fold appends key with the letters that fold to ASCII ones replaced by the
// lower-case ASCII ones; false: it does not fit, so it is no variant of
// anything known.
func fold(dst, key []byte) ([]byte, bool) {
	for i := 0; i < len(key); {
		c, size := key[i], 1
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c >= utf8.RuneSelf:
			var r rune
			r, size = utf8.DecodeRune(key[i:])
			if c = foldRune(r); c == 0 {
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

// foldRune is the ASCII letter that a longer rune folds to. Unicode has two.
func foldRune(r rune) byte {
	switch r {
	case '\u017f': // long s
		return 's'
	case '\u212a': // Kelvin sign
		return 'k'
	}
	return 0
}
