package clientcfg

import "time"

// A dialect describes how a client writes the values in its server list, such as timeouts and
// references to variables.
type dialect struct {
	unit      func(n float64) time.Duration // converts a number in the file to a timeout
	variables *variables                    // syntax of variable references; nil if the client does not replace variables

	headers  func(fields map[string]any) *variables // returns the syntax of variable references in an entry's headers; nil if headers have the same syntax as other values
	urlIsSSE bool                                   // whether a "url" without a "type" means HTTP+SSE
	native   []string                               // values of "type" that mark built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts a timeout in seconds. It interprets a large number as milliseconds, the unit
// that older versions of Zed used.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}
