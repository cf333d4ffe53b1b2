package clientcfg

import "time"

// A dialect is the syntax of a client's server list, apart from the names of keys.
type dialect struct {
	unit      func(n float64) time.Duration // converts a number in the file to a timeout
	variables *variables                    // syntax of variable references; nil: the client does not replace any

	headers  func(fields map[string]any) *variables // returns the syntax of variable references in an entry's headers; nil: the same as elsewhere
	urlIsSSE bool                                   // whether a "url" without a "type" means HTTP+SSE
	native   []string                               // values of "type" that mark built-in entries
}

func milliseconds(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// zedTimeout converts a number of seconds or, as in older versions of Zed, of milliseconds. It
// tells the two apart by size.
func zedTimeout(n float64) time.Duration {
	if n >= 1000 {
		return milliseconds(n)
	}
	return seconds(n)
}
