# Other libraries at the same work (leat-bench --peers), as far as they are installed.
target_sources(leat-bench PRIVATE peers/peers.c)

find_path(LEAT_EVENT_INCLUDE event2/buffer.h)
find_library(LEAT_EVENT_LIBRARY event_core)
if(LEAT_EVENT_INCLUDE AND LEAT_EVENT_LIBRARY)
    target_sources(leat-bench PRIVATE peers/evbuffer.c)
    target_include_directories(leat-bench SYSTEM PRIVATE ${LEAT_EVENT_INCLUDE})
    target_link_libraries(leat-bench PRIVATE ${LEAT_EVENT_LIBRARY})
    target_compile_definitions(leat-bench PRIVATE LEAT_PEER_EVBUFFER_FOUND)
endif()

find_program(LEAT_JAVA java)
find_program(LEAT_JAVAC javac)
find_file(LEAT_NETTY_BUFFER netty-buffer.jar PATHS /usr/share/java)
find_file(LEAT_NETTY_COMMON netty-common.jar PATHS /usr/share/java)
if(LEAT_JAVA AND LEAT_JAVAC AND LEAT_NETTY_BUFFER AND LEAT_NETTY_COMMON)
    set(classes ${CMAKE_CURRENT_BINARY_DIR}/peers)
    set(jars ${LEAT_NETTY_BUFFER}:${LEAT_NETTY_COMMON})
    add_custom_command(OUTPUT ${classes}/NettyPeer.class
        COMMAND ${LEAT_JAVAC} -d ${classes} -cp ${jars} ${CMAKE_CURRENT_SOURCE_DIR}/peers/NettyPeer.java
        DEPENDS peers/NettyPeer.java VERBATIM)
    target_sources(leat-bench PRIVATE peers/netty.c ${classes}/NettyPeer.class)
    set_source_files_properties(peers/netty.c PROPERTIES
        COMPILE_DEFINITIONS "LEAT_PEER_JAVA=\"${LEAT_JAVA}\";LEAT_PEER_NETTY=\"${jars}:${classes}\"")
    target_compile_definitions(leat-bench PRIVATE LEAT_PEER_NETTY_FOUND)
endif()
