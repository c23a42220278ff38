/** Code of the application around what the engine runs. */
package dev.perdure.interceptor;
