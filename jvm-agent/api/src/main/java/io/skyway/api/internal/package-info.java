/** Shared by the api and the agent, which lives in a class loader of its own. Not for applications. */
package io.skyway.api.internal;
