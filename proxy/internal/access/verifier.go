package access

import "net/url"

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options   Options
	keys      *keys
	memory    grantCache
	resource  *url.URL
	challenge string
}
