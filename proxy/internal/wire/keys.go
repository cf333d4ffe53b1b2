package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Keys of _meta members that belong to one hop, and the key of the reference to a task.
const (
	keyProgressToken      = "progressToken"
	keyProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	keyClientInfo         = "io.modelcontextprotocol/clientInfo"
	keyClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	keyLogLevel           = "io.modelcontextprotocol/logLevel"
	keyServerInfo         = "io.modelcontextprotocol/serverInfo"
	keySubscriptionID     = "io.modelcontextprotocol/subscriptionId"
	keyRelatedTask        = "io.modelcontextprotocol/related-task"
)

// A parser that ignores case treats keys like "Name" or "argument\u017f" as keys of the protocol.
// Therefore, a key that differs from a known key only in case is refused, so that no parser reads a
// member that this one has not read.

// A keySet maps folded keys to the known keys. It is never modified.
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

	// paramKeys contains the members of params that the proxy reads, or that mcp-go reads on its
	// behalf, in any method.
	paramKeys = keysOf(
		"name", "arguments", "_meta", "task", "inputResponses", "requestState", "cursor", "uri", "level",
		"ref", "argument", "context", "requestId", "taskId", "reason", "progressToken", "progress", "total",
		"message", "protocolVersion", "capabilities", "clientInfo", "notifications",
	)

	// metaKeys contains the members of _meta that belong to one hop, and the reference to a task.
	metaKeys = keysOf(
		keyProgressToken, keyProtocolVersion, keyClientInfo, keyClientCapabilities, keyLogLevel,
		keyServerInfo, keySubscriptionID, keyRelatedTask,
	)

	// resultKeys contains the members of a result that say how a call ended.
	resultKeys = keysOf("isError", "resultType", "task")

	// taskKeys contains the members of a task object that the proxy reads.
	taskKeys = keysOf("taskId", "status", "ttl", "ttlMs", "pollInterval", "pollIntervalMs", "result", "error")
)

// variantOf returns the known key that differs from key only in case, or "" if no key does.
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

// maxKnown is greater than the length of any known key.
const maxKnown = 64

// fold appends key in lower case. It also converts the two non-ASCII letters that fold to ASCII
// letters. It returns false if key contains other non-ASCII letters or does not fit into dst; in
// either case, key is not a variant of a known key.
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

func quoteVariant(key []byte, known string) string {
	return strconv.QuoteToASCII(clip(key)) + " differs from " + strconv.Quote(known) + " in case only"
}

// clip shortens a key so that an error message can quote it.
func clip(key []byte) string {
	const most = 64
	if len(key) > most {
		return string(key[:most]) + "..."
	}
	return string(key)
}
