//! Write network servers as plain sequential code, one cheap thread a connection
