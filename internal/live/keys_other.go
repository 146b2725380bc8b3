//go:build !unix

package live

import "os"

// quiet does nothing: keys that are pressed are not shown unless someone reads them.
func quiet(*os.File) (show func()) { return func() {} }
