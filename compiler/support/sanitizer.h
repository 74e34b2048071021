/* Whether the address sanitizer is in: it reserves terabytes of addresses, and looks for pointers only in what the C library
 * gave. */
#ifndef NNC_SUPPORT_SANITIZER_H
#define NNC_SUPPORT_SANITIZER_H

#ifdef __has_feature
#define HAS_SANITIZER __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER 1
#else
#define HAS_SANITIZER 0
#endif

#endif
