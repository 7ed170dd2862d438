"""Types of the web app, checked against those of the API: JSDoc by the TypeScript compiler."""
