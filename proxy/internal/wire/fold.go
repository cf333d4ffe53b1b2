package wire

import "unicode/utf8"

// Parsers that match keys without regard to case would read a key like "Name"
// or "argument\u017f" as one of the protocol's. A key that folds to a known one
// and is not equal to it is refused, so that nobody reads what we did not.

// variantOf returns the known key that key is a variant of, or "". The
// function known returns the known key that its argument folds to.
func variantOf(key []byte, known func(folded string) string) string {
	var buf [maxKnown]byte
	folded, ok := fold(buf[:0], key)
	if !ok {
		return ""
	}
	if k := known(string(folded)); k != string(key) {
		return k
	}
	return ""
}

// maxKnown is the length of the longest key that known functions return.
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

// knownParam are the members of params that the proxy, or mcp-go behind it,
// reads in any method.
func knownParam(folded string) string {
	switch folded {
	case "name", "arguments", "_meta", "task", "cursor", "uri", "level", "ref", "argument", "context",
		"progress", "total", "message", "reason", "roots", "capabilities", "notifications":
		return folded
	case "inputresponses":
		return "inputResponses"
	case "requeststate":
		return "requestState"
	case "requestid":
		return "requestId"
	case "taskid":
		return "taskId"
	case "progresstoken":
		return "progressToken"
	case "protocolversion":
		return "protocolVersion"
	case "clientinfo":
		return "clientInfo"
	}
	return ""
}

// knownMeta are the members of _meta that belong to one hop or tell about it.
func knownMeta(folded string) string {
	switch folded {
	case "progresstoken":
		return keyProgressToken
	case "io.modelcontextprotocol/protocolversion":
		return keyProtocolVersion
	case "io.modelcontextprotocol/clientinfo":
		return keyClientInfo
	case "io.modelcontextprotocol/clientcapabilities":
		return keyClientCapabilities
	case "io.modelcontextprotocol/loglevel":
		return keyLogLevel
	case "io.modelcontextprotocol/serverinfo":
		return keyServerInfo
	case "io.modelcontextprotocol/subscriptionid":
		return keySubscriptionID
	case "io.modelcontextprotocol/related-task":
		return keyRelatedTask
	}
	return ""
}

// knownEnvelope are the members of a message.
func knownEnvelope(folded string) string {
	switch folded {
	case "jsonrpc", "id", "method", "params", "result", "error":
		return folded
	}
	return ""
}

// knownResult are the members of a result that say how a call ended.
func knownResult(folded string) string {
	switch folded {
	case "iserror":
		return "isError"
	case "resulttype":
		return "resultType"
	case "task":
		return "task"
	}
	return ""
}
