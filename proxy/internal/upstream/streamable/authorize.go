package streamable

import (
	"io"
	"net/http"

	"github.com/petrigate/petrigate/proxy/internal/upstream/conn"
)

// An Unauthorized means that the request was not sent, or was refused, because of missing
// credentials. It was not executed.
type Unauthorized struct{ Cause error }

func (e *Unauthorized) Error() string { return e.Cause.Error() }
func (e *Unauthorized) Unwrap() error { return e.Cause }

const authorizationHeader = "Authorization"

// maxCredentialRetries limits how often one request is sent again with other credentials: once
// because they were unknown, and once because they were insufficient. A server that refuses a
// request with 401 or 403 has not executed it.
const maxCredentialRetries = 2

// Do sends a request with the credentials of the server, if any are configured. Before it sends a
// refused request again, it calls checkResend; nil: always allowed.
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
		_, _ = io.CopyN(io.Discard, response.Body, ExcerptLimit) // Renew has read what matters
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

// withBodyAgain returns a copy of request with its body from the start.
func withBodyAgain(request *http.Request) (*http.Request, error) {
	next := request.Clone(request.Context())
	if request.GetBody == nil {
		return next, nil
	}
	var err error
	next.Body, err = request.GetBody()
	return next, err
}
