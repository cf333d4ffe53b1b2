package streamable

import (
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// An Unauthorized error means that a request was not sent, or was refused, because credentials were
// missing. In either case, the request was not executed.
type Unauthorized struct{ Cause error }

func (e *Unauthorized) Error() string { return e.Cause.Error() }
func (e *Unauthorized) Unwrap() error { return e.Cause }

const authorizationHeader = "Authorization"

// maxCredentialRetries is how many times one request is sent again with other credentials: once
// because the credentials were not accepted, and once because they were insufficient. A server that
// refuses a request with 401 or 403 has not executed it.
const maxCredentialRetries = 2

// Do sends a request with the server's credentials, if any are configured. Before it sends a
// refused request again, it calls the function checkResend, which can forbid that. A nil
// checkResend always allows it.
func (c *Conn) Do(request *http.Request, checkResend func() error) (*http.Response, error) {
	credentials := c.Host.Config.Credentials
	if credentials == nil {
		return c.Host.Client.Do(request)
	}
	value, err := credentials.Authorization(request.Context())
	for retries := 0; ; retries++ {
		if err != nil {
			return nil, &Unauthorized{err}
		}
		if value != "" {
			request.Header.Set(authorizationHeader, value)
			c.authorized.Store(&value)
		}
		response, failure := c.Host.Client.Do(request)
		if failure != nil || !isUnauthorized(response) || retries == maxCredentialRetries {
			return response, failure
		}
		next, failure := credentials.Renew(request.Context(), value, response)
		if next == "" && failure == nil {
			return response, nil
		}
		_, _ = io.CopyN(io.Discard, response.Body, ExcerptLimit) // Renew has already read the relevant part
		_ = response.Body.Close()
		if value, err = next, failure; err == nil && checkResend != nil {
			if failure = checkResend(); failure != nil {
				return nil, conn.NotSent(failure)
			}
		}
		if request, failure = withBodyAgain(request); failure != nil {
			return nil, failure
		}
	}
}

func isUnauthorized(response *http.Response) bool {
	return response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden
}

// withBodyAgain returns a copy of the request with a body that starts from the beginning again.
func withBodyAgain(request *http.Request) (*http.Request, error) {
	next := request.Clone(request.Context())
	if request.GetBody == nil {
		return next, nil
	}
	var err error
	next.Body, err = request.GetBody()
	return next, err
}
