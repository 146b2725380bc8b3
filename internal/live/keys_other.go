//go:build !unix

package live

import "os"

// quiet does nothing: keys that are pressed are not shown unless somebody reads them.
func quiet(*os.File) (show func()) { return func() {} }
