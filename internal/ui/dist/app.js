var R,Cn,zt,Ae,Ht,_t,Tn,gt,Sn,Wt,jt,qr,Qe=Symbol.for("pv"),bt={},yt=[],Hr=/^m(i|n|o|s|text|space)$/,Zt=Array.isArray,Jt=yt.slice,Re=Object.assign;function Be(e){
e&&e.parentNode&&e.remove()}function $n(e,n,r){var s,o,a,i={},l=arguments.length;for(a in n)a=="key"?s=n[a]:a=="ref"&&typeof e!="function"?o=n[a]:i[a]=n[a];return l>
2&&(i.children=l>3?Jt.call(arguments,2):r),Ye(e,i,s,o,null)}function Ye(e,n,r,s,o){var a={type:e,props:n,key:r,ref:s,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Qe,__v:o||++Cn,__i:-1,__u:0};return!o&&R.vnode&&R.
vnode(a),a}function y(e){return e.children}function je(e,n){this.props=e,this.context=n,this.__g=0}function Pe(e,n){if(n==null)return e.__&&Pe(e.__,e.__i+1);for(var r;n<e.
__k.length;n++)if((r=e.__k[n])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Pe(e)}function jr(e){var n,r=e.__v,s=r.__e,o=[],a=[],i=e.__P;
i&&((n=Re({constructor:Qe},r)).__v=r.__v+1,R.vnode&&R.vnode(n),Kt(i,n,r,e.__n,i.namespaceURI,32&r.__u?[s]:null,o,s||Pe(r),32&r.__u,a),n.__v=r.__v,n.__.__k[n.__i]=
n,Rn(o,n,a),r.__=r.__e=null,n.__e!=s&&An(n))}function An(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(n){return n&&(e.__e=n.__e)}),
An(e)}function wn(e){(8&e.__g||(e.__g|=8,Ae.push(e),_t++))&&Ht==R.debounceRendering||((Ht=R.debounceRendering)||queueMicrotask)(Pn)}function Pn(){try{for(var e,
n=1;Ae.length;)Ae.length>n&&Ae.sort(Tn),e=Ae.shift(),n=Ae.length,8&e.__g&&jr(e)}finally{(_t=Ae.length)&&(Ht||queueMicrotask)(Pn)}}function En(e,n,r,s,o,a,i,l,c,u,d){
var p,f,m,g,x,b,C=s.__k||yt,v=n.length;for(c=zr(r,n,C,c,v),p=0;p<v;p++)(m=r.__k[p])!=null&&(f=~m.__i&&C[m.__i]||bt,m.__i=p,b=Kt(e,m,f,o,a,i,l,c,u,d),g=m.__e,(f.
ref!=m.ref||8&f.__u)&&(f.ref&&Vt(f.ref,null,m,f),m.ref&&d.push(m.ref,m.__c||g,m)),x=x||g,4&m.__u?(c=Nn(m,c,e,!f.__v),f.__e&&(f.__e=null)):typeof m.type=="functi\
on"&&b!==void 0?c=b:g&&(c=g.nextSibling),m.__u&=-21);return r.__e=x,c}function zr(e,n,r,s,o){var a,i,l,c,u,d,p,f,m,g=r.length,x=g,b=0,C=0,v=e.__k=Array(o);for(a=
0;a<o;a++)(i=n[a])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=v[a]=Ye(null,i):Zt(i)?i=v[a]=Ye(y,{children:i}):
i.constructor===Qe&&i.__b?i=v[a]=Ye(i.type,i.props,i.key,i.ref,i.__v):v[a]=i,c=a+b,i.__=e,i.__b=e.__b+1,l=null,~(u=i.__i=Wr(i,r,c,x))&&(x--,(l=r[u])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,u==c-1?b--:u==c+1?b++:u!=c&&(u>c?b--:b++,C=1)):(~u||(o>g?b--:o<g&&b++),typeof i.type!="function"&&(i.__u|=4))):v[a]=null;if(C){for(d=[],p=[],
a=0;a<o;a++)if((i=v[a])&&16&i.__u){for(b=0,f=d.length;b<f;)d[m=b+f>>1]<i.__i?b=m+1:f=m;d[b]=i.__i,p[a]=b+1}for(b=d.length;a--;)p[a]&&(p[a]==b?b--:v[a].__u|=4)}if(x)
for(a=0;a<g;a++)!(l=r[a])||2&l.__u||(l.__e==s&&(s=Pe(l)),Gt(l,l));return s}function Nn(e,n,r,s){var o,a,i,l;if(typeof e.type=="function"){if(e.props.__P)return n;
if(o=e.__k)for(a=0;a<o.length;a++)o[a]&&(o[a].__=e,n=Nn(o[a],n,r,!1));return n}for(n&&!n.parentNode&&(n=Pe(e))&&!n.parentNode&&(n=null),i=e.__e,l=n;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!s&&r.moveBefore&&i.parentNode?r.moveBefore(i,n):r.insertBefore(i,n||null)),n=i;(n=n&&n.nextSibling)&&n.nodeType==8&&!n.data.startsWith(
"$s"););return n}function Wr(e,n,r,s){var o,a=e.key,i=e.type,l=n[r],c=l&&!(2&l.__u);if(l===null&&a==null||c&&a==l.key&&i==l.type)return r;if(s>(c?1:0)){for(o=r-1;o>=0;o--)if((l=
n[o])&&!(2&l.__u)&&a==l.key&&i==l.type)return o;for(o=r+1;o<n.length;o++)if((l=n[o])&&!(2&l.__u)&&a==l.key&&i==l.type)return o}return-1}function xn(e,n,r){r==null&&
(r=""),n[0]=="-"?e.setProperty(n,r):e[n]=r}function ht(e,n,r,s,o){var a,i;if(n=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof s=="string"&&(e.style.
cssText=s=""),s)for(n in s)r&&n in r||xn(e.style,n);if(r)for(n in r)s&&r[n]==s[n]||xn(e.style,n,r[n])}else if(n[0]=="o"&&n[1]=="n")typeof r!="function"&&(r=null),
typeof s!="function"&&(s=null),(e.__e||(e.__e={}))[n]=r,r&&s||(i=jt[n]||(jt[n]=Zr(n)),(e.__a||(e.__a={}))[n]=Wt,a=n!=(n=n.replace(Sn,"$1")),(n=n.slice(2))[0]<"a"&&
(n=n.toLowerCase()),r?e.addEventListener(n,i,a):e.removeEventListener(n,i,a));else{if(o=="http://www.w3.org/2000/svg")n=n.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(n!="width"&&n!="height"&&n!="href"&&n!="list"&&n!="form"&&n!="tabIndex"&&n!="download"&&n!="rowSpan"&&n!="colSpan"&&n!="role"&&n!="popover"&&n in e)
try{return void(e[n]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&n[4]!="-"?e.removeAttribute(n):e.setAttribute(n,n=="popover"&&r==1?"":r)}}function Zr(e){
return function(n){var r=this.__e;if(r){if(r=r[e],n[gt]==null)n[gt]=Wt++;else if(n[gt]<this.__a[e])return;return r(R.event?R.event(n):n)}}}function Kt(e,n,r,s,o,a,i,l,c,u){
var d,p,f,m,g,x,b,C,v,_,T,L,F,pe,Q,S,k,W,O=n.type;if(n.constructor!==Qe)return null;128&r.__u&&(c=32&r.__u,d=r.__c.__z)&&(n.__u|=c,p=a=[],d.nodeType==8?l=vt(d,a):
a.push(d),l=a[0]||l),(d=R.__b)&&d(n);e:if(typeof O=="function"){f=i.length;try{if(C=n.props,v=(d=O.prototype)&&d.render,_=(d=O.contextType)&&s[d.__c],T=d?_?_.props.
value:d.__:s,(m=r.__c)?(n.__c=m,2&m.__g&&(m.__g|=1)):(v?n.__c=m=new O(C,T):(n.__c=m=new je(C,T),m.constructor=O,m.render=Kr),_&&_.sub(m),m.state||(m.state={}),m.
__n=s,m.__g|=8,m.__h=[],m.__k=[]),v&&(m.__s||(m.__s=m.state),O.getDerivedStateFromProps&&(m.__s==m.state&&(m.__s=Re({},m.__s)),Re(m.__s,O.getDerivedStateFromProps(
C,m.__s)))),g=m.props,x=m.state,m.__v=n,r.__c){if(C!==g&&v&&!O.getDerivedStateFromProps&&m.componentWillReceiveProps&&m.componentWillReceiveProps(C,T),n.__v==r.
__v&&!(8&m.__g)||!(4&m.__g)&&m.shouldComponentUpdate&&m.shouldComponentUpdate(C,m.__s,T)===!1){n.__v!=r.__v&&(m.props=C,m.state=m.__s,m.__g&=-9),n.__e=r.__e,n.__k=
r.__k,n.__k.some(function(Z){Z&&(Z.__=n)}),yt.push.apply(m.__h,m.__k),m.__k=[],m.__h.length&&i.push(m),l=Pe(r);break e}m.componentWillUpdate&&m.componentWillUpdate(
C,m.__s,T),v&&m.componentDidUpdate&&m.__h.push(function(){m.componentDidUpdate(g,x,b)})}else v&&!O.getDerivedStateFromProps&&m.componentWillMount&&m.componentWillMount(),
v&&m.componentDidMount&&m.__h.push(m.componentDidMount);m.context=T,m.props=C,m.__P=e,m.__g&=-5,L=R.__r,F=v?25:0;do m.__g&=-9,L&&L(n),d=m.render(m.props,m.state=
m.__s,m.context);while(8&m.__g&&++F<25);v&&(yt.push.apply(m.__h,m.__k),m.__k=[]),m.state=m.__s,m.getChildContext&&(s=Re({},s,m.getChildContext())),v&&r.__c&&m.getSnapshotBeforeUpdate&&
(b=m.getSnapshotBeforeUpdate(g,x)),pe=d&&d.type===y&&d.key==null?d.props.children:d,C.__P&&(d=l,o=(e=C.__P).namespaceURI,c=a=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(Z){Z&&Gt(Z,Z)}),r.__k=null),l=r.__k?Pe(r,0):null),l=En(e,Zt(pe)?pe:[pe],n,r,s,o,a,i,l,c,u),C.__P&&(n.__e=null,l=d),n.__u&=-161,p&&p.some(Be),m.__h.
length&&i.push(m),1&m.__g&&(m.__g&=-4)}catch(Z){if(i.length=f,n.__v=null,c||a)if(Z&&Z.then){if(n.__u|=128|c,a){for(~(k=a.indexOf(l||void 0))||(k=a.length);(W=a[k-
1])&&W.nodeType==8;)k--;for(;k<a.length;k++)if(W=a[k])if(a[k]=null,Q){if(W==S)break}else{if(W.nodeType!=8)break;W.data.startsWith("$s")&&(S=vt(Q=W))}}if(!Q){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;Q=l}(d=vt(Q=n.__c.__z||(n.__c.__z=Q)))?(n.__e=Q,l=d):n.__e=l,l=l&&l.nextSibling}else a&&a.some(Be);else n.__e=r.__e;
n.__k||(n.__k=r.__k||[]),Z&&Z.then||Bn(n),R.__e(Z,n,r)}}else l=n.__e=Jr(r.__e,n,r,s,o,a,i,c,u,e);return(d=R.diffed)&&d(n),l}function vt(e,n){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}n&&n.push(
e)}}function Bn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Bn))}function Rn(e,n,r){for(var s=0;s<r.length;)Vt(r[s++],r[s++],r[s++]);R.__c&&R.__c(n,e),e.some(
function(o){try{e=o.__h,o.__h=[],e.some(function(a){a.call(o)})}catch(a){R.__e(a,o.__v)}})}function Jr(e,n,r,s,o,a,i,l,c,u){var d,p,f,m,g,x,b,C,v=r.props||bt,_=n.
props,T=n.type;if(T=="svg"?o="http://www.w3.org/2000/svg":T=="math"?o="http://www.w3.org/1998/Math/MathML":o||(o="http://www.w3.org/1999/xhtml"),a){for(d=0;d<a.
length;d++)if((g=a[d])&&(T?g.localName==T:g.nodeType==3)){e=g,a[d]=null;break}}if(!e){if(C=u.ownerDocument||document,!T)return C.createTextNode(_);e=C.createElementNS(
o,T,_.is?_:u),l&&(R.__m&&R.__m(n,a),l=!1),a=null}if(T){if(u=T=="template"&&e.content||e,a=T=="textarea"&&_.defaultValue!=null?null:a&&Jt.call(u.childNodes),!l&&
a)for(v={},d=0;d<e.attributes.length;d++)v[(g=e.attributes[d]).name]=g.value;for(d in v)g=v[d],d=="dangerouslySetInnerHTML"?f=g:d=="children"||d in _||d=="value"&&
"defaultValue"in _||d=="checked"&&"defaultChecked"in _||ht(e,d,null,g,o);for(d in _)g=_[d],d=="children"?m=g:d=="dangerouslySetInnerHTML"?p=g:d=="value"?x=g:d==
"checked"?b=g:l&&typeof g!="function"||v[d]===g||ht(e,d,g,v[d],o);p?(l||f&&(p.__html==f.__html||p.__html==e.innerHTML)||(e.innerHTML=p.__html),n.__k=[]):(f&&(e.
textContent=""),(T=="foreignObject"||o=="http://www.w3.org/1998/Math/MathML"&&Hr.test(T))&&(o="http://www.w3.org/1999/xhtml"),En(u,Zt(m)?m:[m],n,r,s,o,a,i,a?a[0]:
r.__k&&Pe(r,0),l,c),a&&a.some(Be)),l&&T!="textarea"||(d="value",T=="progress"&&x==null?e.removeAttribute(d):x==null||x===e[d]&&(T!="progress"||x)||ht(e,d,x,v[d],
o),d="checked",b!=null&&b!=e[d]&&ht(e,d,b,v[d],o))}else v===_||l&&e.data==_||(e.data=_);return e}function Vt(e,n,r,s){try{typeof e=="function"?n?n.__x=e(n)||1:s&&
(s=s.__c||s.__e)&&(n=s.__x)&&(s.__x=null,typeof n=="function"?n():e(null)):e.current=n}catch(o){R.__e(o,r)}}function Gt(e,n,r){var s,o,a,i;if(R.unmount&&R.unmount(
e),!(s=e.ref)||s.current&&s.current!=e.__e||Vt(s,null,n,e),s=e.__c){if(s.componentWillUnmount)try{s.componentWillUnmount()}catch(l){R.__e(l,n)}s.__P=s.__n=null}
if(s=e.__k)for(i=0;i<s.length;i++)s[i]&&Gt(s[i],n,typeof e.type!="function"||r&&!e.props.__P);!r&&(s=e.__c)&&(s=s.__z)&&(o=vt(s,a=[]))&&(s==e.__e&&a.some(Be),Be(
o),Be(s)),r||Be(e.__e),e.__e=e.__c=e.__=null}function Kr(e,n,r){return this.constructor(e,r)}function Dn(e,n){var r,s,o,a;R.__&&R.__(e,n),n.nodeType==9&&(n=n.documentElement),
s=(r=e&&32&e.__u)?null:n.__k,n.__k=Ye(y,{children:[e]}),o=[],a=[],Kt(n,n.__k,s||bt,bt,n.namespaceURI,s?null:n.firstChild?Jt.call(n.childNodes):null,o,s?s.__e:n.
firstChild,r,a),Rn(o,n.__k,a),n.__k.props.children=null}R={__e:function(e,n,r,s){for(var o,a,i;n=n.__;)if((o=n.__c)&&!(1&o.__g)){o.__g|=4;try{if((i=(a=o.constructor)&&a.getDerivedStateFromError)&&o.setState(a.getDerivedStateFromError(
e)),o.componentDidCatch&&(o.componentDidCatch(e,s||{}),i=1),i&&8&o.__g)return void(o.__g|=2)}catch(l){e=l}}throw _t=0,e}},Cn=0,zt=function(e){return e!=null&&e.
constructor===Qe},je.prototype.setState=function(e,n){var r=this.__s;r&&r!=this.state||(r=this.__s=Re({},this.state)),typeof e=="function"&&(e=e(Re({},r),this.props)),
e&&(Re(r,e),this.__v&&(n&&this.__k.push(n),wn(this)))},je.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),wn(this))},je.prototype.render=
y,Ae=[],_t=0,Tn=function(e,n){return e.__v.__b-n.__v.__b},gt=Symbol(),Sn=/(PointerCapture)$|Capture$/i,Wt=0,jt={},qr=0;var De,K,Xt,On,Yt=Object.is,kt=0,zn=[],Qt=[],J=R,Ln=J.__b,Fn=J.__r,In=J.diffed,Mn=J.__c,Un=J.unmount,qn=J.__;function tt(e,n){J.__h&&J.__h(K,e,kt||n),kt=0;var r=K.
__H||(K.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return kt=1,Vr(Wn,e)}function Vr(e,n,r){var s=tt(De++,2);if(s.t=e,!s.__c&&
(s.__=[r?r(n):Wn(void 0,n),function(a){var i=(s.__N||s.__)[0],l=s.t(i,a);Yt(i,l)||(s.__N=[l,s.__[1]],s.__c.setState({}))}],s.__c=K,!K.__f)){K.__f=!0;var o=K.shouldComponentUpdate;
K.shouldComponentUpdate=function(a,i,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=a;if(c.__.some(function(f){f.__N&&(u=!0,Yt(f.__[0],f.__N[0])||(d=!0))}),
o){var p=o.call(this,a,i,l);return u?p||d:p}return!u||d}}return s.__}function X(e,n){var r=tt(De++,3);!J.__s&&tn(r.__H,n)&&(r.__P=!0,r.__=e,r.u=n,K.__H.__h.push(
r))}function wt(e,n){var r=tt(De++,4);!J.__s&&tn(r.__H,n)&&(r.__P=!1,r.__=e,r.u=n,K.__h.push(r))}function le(e){return kt=5,xt(function(){return{current:e}},[])}function xt(e,n){var r=tt(De++,7);return tn(r.__H,n)&&(r.__=e(),r.__H=n),r.__}function nt(){var e=tt(De++,11);if(!e.__){for(var n=K.__v;!n.__m&&n.__;)n=n.__;var r=n.__m||(n.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function Gr(){var e;
do{for(;e=Qt.shift();)try{et(e)}catch(r){J.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=zn.shift();){var n=e.__H;if(e.__P&&n)try{n.__h.some(et),n.__h.some(en),n.__h=[]}catch(r){
n.__h=[],J.__e(r,e.__v)}}}while(Qt.length)}J.__b=function(e){K=null,Ln&&Ln(e)},J.__=function(e,n){e&&n.__k&&n.__k.__m&&(e.__m=n.__k.__m),qn&&qn(e,n)},J.__r=function(e){
Fn&&Fn(e),De=0;var n=(K=e.__c).__H;n&&(Xt==K?K.__h=[]:(n.__h.some(et),n.__h.some(en),De=0),n.__h=[],n.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
Xt=K},J.diffed=function(e){In&&In(e);var n=e.__c;n&&n.__H&&(n.__H.__h.length&&jn(zn.push(n)),n.__H.__.some(function(r){r.u&&(r.__H=r.u)})),Xt=K=null},J.__c=function(e,n){
n.some(function(r){try{r.__h.some(et),r.__h=r.__h.filter(function(s){return!s.__||en(s)})}catch(s){r.__h=[function(){throw s}]}}),Mn&&Mn(e,n)},J.unmount=function(e){
Un&&Un(e);var n,r,s=e.__c;s&&s.__H&&(s.__H.__.some(function(o){try{if(o.__P&&o.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}o.__P=r,
jn(Qt.push(o))}else et(o)}catch(a){n=a}}),s.__H=void 0,n&&J.__e(n,s.__v))};var Hn=typeof requestAnimationFrame=="function";function Xr(e){var n,r=function(){clearTimeout(
s),Hn&&cancelAnimationFrame(n),setTimeout(e)},s=setTimeout(r,35);Hn&&(n=requestAnimationFrame(r))}function jn(e){e!=1&&On==J.requestAnimationFrame||((On=J.requestAnimationFrame)||
Xr)(Gr)}function et(e){var n=K,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),K=n}function en(e){var n=K;e.__c=e.__(),K=n}function tn(e,n){return!e||e.length!=
n.length||n.some(function(r,s){return!Yt(r,e[s])})}function Wn(e,n){return typeof n=="function"?n(e):n}var Yr=Symbol.for("preact-signals");function $t(){if(we>1)we--;else{var e,n=!1;for((function(){var o=Tt;for(Tt=void 0;o!==void 0;){var a=o.S;if(a.v===o.v)for(var i=a.
t;i!==void 0;i=i.x)i.i===o.i&&(i.i=a.i);o=o.o}})();at!==void 0;){var r=at;for(at=void 0,Ct++;r!==void 0;){var s=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&Jn(r))try{r.
c()}catch(o){n||(e=o,n=!0)}r=s}}if(Ct=0,we--,n)throw e}}function rn(e){if(we>0)return e();nn=++Qr,we++;try{return e()}finally{$t()}}var rt,H=void 0;function st(e){
var n=H,r=rt;H=void 0,rt=void 0;try{return e()}finally{H=n,rt=r}}var at=void 0,we=0,Ct=0,Qr=0,nn=0,Tt=void 0,St=0;function Zn(e){if(H!==void 0){var n=e.n;if(n===
void 0||n.t!==H)return n={i:0,S:e,p:H.s,n:void 0,t:H,e:void 0,x:void 0,r:n},H.s!==void 0&&(H.s.n=n),H.s=n,e.n=n,32&H.f&&e.S(n),n;if(n.i===-1)return n.i=0,n.n!==
void 0&&(n.n.p=n.p,n.p!==void 0&&(n.p.n=n.n),n.p=H.s,n.n=void 0,H.s.n=n,H.s=n),n}}function Y(e,n){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
n?.watched,this.Z=n?.unwatched,this.name=n?.name}Y.prototype.brand=Yr;Y.prototype.h=function(){return!0};Y.prototype.S=function(e){var n=this,r=this.t;r!==e&&e.
e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:st(function(){var s;(s=n.W)==null||s.call(n)}))};Y.prototype.U=function(e){var n=this;if(this.t!==void 0){var r=e.e,
s=e.x;r!==void 0&&(r.x=s,e.e=void 0),s!==void 0&&(s.e=r,e.x=void 0),e===this.t&&(this.t=s,s===void 0&&st(function(){var o;(o=n.Z)==null||o.call(n)}))}};Y.prototype.
subscribe=function(e){var n=this;return _e(function(){var r=n.value;st(function(){return e(r)})},{name:"sub"})};Y.prototype.valueOf=function(){return this.value};
Y.prototype.toString=function(){return this.value+""};Y.prototype.toJSON=function(){return this.value};Y.prototype.peek=function(){var e=this;return st(function(){
return e.value})};Object.defineProperty(Y.prototype,"value",{get:function(){var e=Zn(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.v){
if(Ct>100)throw new Error("Cycle detected");(function(r){we!==0&&Ct===0&&r.l!==nn&&(r.l=nn,Tt={S:r,v:r.v,i:r.i,o:Tt})})(this),this.v=e,this.i++,St++,we++;try{for(var n=this.
t;n!==void 0;n=n.x)n.t.N()}finally{$t()}}}});function se(e,n){return new Y(e,n)}function Jn(e){for(var n=e.s;n!==void 0;n=n.n)if(n.S.i!==n.i||!n.S.h()||n.S.i!==
n.i)return!0;return!1}function Kn(e){for(var n=e.s;n!==void 0;n=n.n){var r=n.S.n;if(r!==void 0&&(n.r=r),n.S.n=n,n.i=-1,n.n===void 0){e.s=n;break}}}function Vn(e){
for(var n=e.s,r=void 0;n!==void 0;){var s=n.p;n.i===-1?(n.S.U(n),s!==void 0&&(s.n=n.n),n.n!==void 0&&(n.n.p=s)):r=n,n.S.n=n.r,n.r!==void 0&&(n.r=void 0),n=s}e.s=
r}function Oe(e,n){Y.call(this,void 0,n),this.x=e,this.s=void 0,this.g=St-1,this.f=4}Oe.prototype=new Y;Oe.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;
if((36&this.f)==32||(this.f&=-5,this.g===St))return!0;if(this.g=St,this.f|=1,this.i>0&&!Jn(this))return this.f&=-2,!0;var e=H;try{Kn(this),H=this;var n=this.x();
(16&this.f||this.v!==n||this.i===0)&&(this.v=n,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return H=e,Vn(this),this.f&=-2,!0};Oe.prototype.S=function(e){
if(this.t===void 0){this.f|=36;for(var n=this.s;n!==void 0;n=n.n)n.S.S(n)}Y.prototype.S.call(this,e)};Oe.prototype.U=function(e){if(this.t!==void 0&&(Y.prototype.
U.call(this,e),this.t===void 0)){this.f&=-33;for(var n=this.s;n!==void 0;n=n.n)n.S.U(n)}};Oe.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var e=this.t;e!==
void 0;e=e.x)e.t.N()}};Object.defineProperty(Oe.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=Zn(this);if(this.h(),e!==void 0&&
(e.i=this.i),16&this.f)throw this.v;return this.v}});function Le(e,n){return new Oe(e,n)}function Gn(e){var n=e.j;if(e.j=void 0,typeof n=="function"){we++;var r=H;
H=void 0;try{n()}catch(s){throw e.f&=-2,e.f|=8,an(e),s}finally{H=r,$t()}}}function an(e){for(var n=e.s;n!==void 0;n=n.n)n.S.U(n);e.x=void 0,e.s=void 0,Gn(e)}function ea(e){
if(H!==this)throw new Error("Out-of-order effect");Vn(this),H=e,this.f&=-2;try{8&this.f&&an(this)}finally{$t()}}function ze(e,n){this.x=e,this.j=void 0,this.s=void 0,
this.u=void 0,this.f=32,this.name=n?.name,rt&&rt.push(this)}ze.prototype.c=function(){var e=this.S();try{if(8&this.f||this.x===void 0)return;var n=this.x();typeof n==
"function"&&(this.j=n)}finally{e()}};ze.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,Gn(this),Kn(this),we++;var e=H;
return H=this,ea.bind(this,e)};ze.prototype.N=function(){2&this.f||(this.f|=2,this.u=at,at=this)};ze.prototype.d=function(){this.f|=8,1&this.f||an(this)};ze.prototype.
dispose=function(){this.d()};function _e(e,n){var r=new ze(e,n);try{r.c()}catch(o){throw r.d(),o}var s=r.d.bind(r);return s[Symbol.dispose]=s,s}var Xn,Pt,At,ta=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var Yn=[];_e(function(){Xn=this.N})();function We(e,n){R[e]=n.bind(null,R[e]||function(){})}function ot(e){if(At){var n=At;At=void 0,n()}At=e&&e.S()}function Qn(e){
var n=this,r=e.data,s=ra(r);s.name="ReactiveDom",s.value=r;var o=xt(function(){for(var l=n,c=n.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var u=Le(function(){var m=s.
value.value;return m===0?0:m===!0?"":m||""}),d=Le(function(){return!Array.isArray(u.value)&&!zt(u.value)}),p=_e(function(){if(this.N=er,d.value){var m=u.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=m)}}),f=n.__$u.d;return n.__$u.d=function(){p(),f.call(this)},[d,u]},[]),a=o[0],i=o[1];return a.value?i.
peek():i.value}Qn.displayName="ReactiveTextNode";Object.defineProperties(Y.prototype,{constructor:{configurable:!0,value:$n(y,null).constructor},type:{configurable:!0,
value:Qn},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});We("__b",function(e,n){if(ot(),
Pt=void 0,typeof n.type=="string"){var r,s=n.props;for(var o in s)if(o!=="children"){var a=s[o];a instanceof Y&&(r||(n.__np=r={}),r[o]=a,s[o]=a.peek())}}e(n)});
We("__r",function(e,n){if(e(n),n.type!==y){ot();var r,s=n.__c;s&&(s.__$f&=-2,(r=s.__$u)===void 0&&(s.__$u=r=(function(o,a){var i;return _e(function(){i=this},{name:a}),
i.c=o,i})((function(o){return function(){var a;ta&&((a=this.y)==null||a.call(this)),o.__$f|=1,o.setState({})}})(s),typeof n.type=="function"?n.type.displayName||
n.type.name:""))),Pt=s,ot(r)}});We("__e",function(e,n,r,s){ot(),Pt=void 0,e(n,r,s)});We("diffed",function(e,n){ot(),Pt=void 0;var r;if(typeof n.type=="string"&&
(r=n.__e)){var s=n.__np,o=n.props,a=r.U;if(a)for(var i in a){var l=a[i];l===void 0||s&&i in s||(l.d(),a[i]=void 0)}if(s){a||(a={},r.U=a);for(var c in s){var u=a[c],
d=s[c];u===void 0?(u=na(r,c,d,o),a[c]=u):u.o(d,o)}}}e(n)});function na(e,n,r,s){var o=n in e&&e.ownerSVGElement===void 0,a=se(r);return{o:function(i,l){a.value=
i,s=l},d:_e(function(){this.N=er;var i=a.value.value;s[n]!==i&&(s[n]=i,o?e[n]=i:i!=null&&(i!==!1||n[4]==="-")?e.setAttribute(n,i):e.removeAttribute(n))})}}We("u\
nmount",function(e,n){if(typeof n.type=="string"){var r=n.__e;if(r){var s=r.U;if(s){r.U=void 0;for(var o in s){var a=s[o];a&&a.d()}}}var i=n.__np;if(i){var l=n.
props;for(var c in i)l[c]=i[c]}n.__np=void 0}else{var u=n.__c;if(u){u.__$f|=8;var d=u.__$u;d&&(u.__$u=void 0,d.d())}}e(n)});We("__h",function(e,n,r,s){s<3&&(n.__$f|=
2),e(n,r,s)});je.prototype.shouldComponentUpdate=function(e,n){if(this.__R)return!0;var r=this.__$u,s=r&&r.s!==void 0;for(var o in n)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var a=2&this.__$f;if(!(s||a||4&this.__$f)||1&this.__$f)return!0}else if(!(s||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function ra(e,n){return xt(function(){return se(e,n)},[])}var aa=function(e){queueMicrotask(function(){queueMicrotask(e)})};function sa(){rn(function(){for(var e;e=Yn.shift();)Xn.call(e)})}function er(){Yn.push(this)===1&&(R.requestAnimationFrame||aa)(sa)}var tr=new URL("../",document.baseURI),sn=document.querySelector('meta[name="timerbus"]'),be={version:sn?.content??"",readOnly:sn?.dataset.readOnly==="true",hidePayloads:sn?.
dataset.hidePayloads==="true"},I=class extends Error{constructor(r,s,o,a={},i=0){super(o);this.status=r;this.code=s;this.details=a;this.retryAfter=i}status;code;details;retryAfter},
on="timerbus-token",xe=se(sessionStorage.getItem(on)??""),Ce=se(null),it=se(null);function Et(e){xe.value=e,e?sessionStorage.setItem(on,e):sessionStorage.removeItem(
on)}var Nt=se(0);async function ln(e,n){let r=new Headers(n.headers);xe.value&&r.set("Authorization",`Bearer ${xe.value}`);let s;try{s=await fetch(new URL(e,tr),
{...n,headers:r,cache:"no-store"})}catch(a){throw n.signal?.aborted?a:new I(0,"UNREACHABLE","The service cannot be reached: it may be stopped, or the network is\
 down.")}let o=Date.parse(s.headers.get("Date")??"");if(!Number.isNaN(o)){let a=o+500-Date.now();Nt.value=Math.abs(a)>2e3?a:0}return s}async function nr(e){let n=Number(
e.headers.get("Retry-After")??0)||0;try{let r=await e.json();return new I(e.status,r.error,r.message,r.details,n)}catch{return new I(e.status,"HTTP_"+e.status,`\
The server answered ${e.status} ${e.statusText}.`,{},n)}}function lt(e){let{rawJSON:n}=JSON;return n?JSON.parse(e,(s,o,a)=>typeof o=="number"&&a?.source!==void 0&&
a.source.length>15?n(a.source):o):JSON.parse(e)}async function Te(e,n,r){let s=await ln("api/v1/"+e,{method:"POST",body:JSON.stringify(n),headers:{"Content-Type":"\
application/json"},signal:r??null});if(!s.ok){let a=await nr(s);throw a.status===401&&(it.value=a.message),a}let o=await s.text();return{data:o?lt(o):void 0,late:s.
status===202}}async function B(e,n,r){return(await Te(e,n,r)).data}async function rr(){return await(await ln("readyz",{})).json()}async function Bt(){let e=await ln(
"metrics",{});if(!e.ok)throw await nr(e);return e.text()}async function ct(){let e=await B("caller/get",{});Ce.value=e,it.value=null}function oa(e,n){let r=e.split(
"*").map(s=>s.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(n)}function ar(e,n){return Ce.value?.grants.some(r=>r.verbs.
includes(e)&&r.namespaces.some(n))??!1}function oe(e,n){return(e==="read"||!be.readOnly)&&ar(e,r=>oa(r,n))}function Ze(e){return(e==="read"||!be.readOnly)&&ar(e,
n=>n==="*")}var sr=tr.href.replace(/\/$/,"");function or(e){let[n="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:n.split("/").filter(Boolean).map(o=>{try{return decodeURIComponent(o)}catch{return o}}),
query:new URLSearchParams(r)}}var ee=se(or(location.hash));addEventListener("hashchange",()=>{ee.value=or(location.hash)});function A(e,n={}){let r=Object.entries(
{ns:$.value,...n}).filter(([,s])=>s);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function ae(e,n={}){location.hash=A(e,n)}function fe(e){
let n=Object.fromEntries(ee.value.query);delete n.cursor,ae(ee.value.path,{...n,...e})}var ir="timerbus-namespace",$=Le(()=>ee.value.query.get("ns")||localStorage.
getItem(ir)||"default");_e(()=>{localStorage.setItem(ir,$.value)});var cn=se([]);async function Rt(){let e=[];for(let n;;){let r=await B("namespaces/list",{limit:200,
cursor:n});if(e=e.concat(r.namespaces),n=r.nextCursor,!n||e.length>=1e3)break}return cn.value=e,e}function Dt(e,n){let r=se(localStorage.getItem(e)??n);return _e(
()=>{localStorage.setItem(e,r.value)}),r}var ce=Dt("timerbus-zone","local"),Ee=Dt("timerbus-theme","auto"),ye=Dt("timerbus-live","on"),Ot=Dt("timerbus-shortcuts",
"on");_e(()=>{Ee.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=Ee.value});var Se=se(null),lr=se(Date.now());
setInterval(()=>{document.hidden||(lr.value=Date.now())},1e3);var cr=Le(()=>lr.value+Nt.value),ut=()=>Date.now()+Nt.value,Je=se([]),ia=1;function Fe(e,n="ok"){let r=ia++;
Je.value=[...Je.value.slice(-2),{id:r,text:e,kind:n}],setTimeout(()=>{un(r)},1e4)}function un(e){Je.value=Je.value.filter(n=>n.id!==e)}var dn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,ur=new Map;function la(){return ce.value==="utc"?"UTC":ce.value==="schedule"&&Se.value?Se.value:"loc\
al"}var dt=e=>String(e).padStart(2,"0");function he(e,n=la()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(n){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${dt(r.getMonth()+1)}-${dt(r.getDate())} ${dt(r.getHours())}:${dt(r.getMinutes())}\
:${dt(r.getSeconds())}`;default:{let s=ur.get(n);return s||(s=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:n}),ur.set(n,s)),s.
format(r)}}}function dr(e){return he(e).slice(11,16)}function ge(e){let n=Math.abs(e);if(n<1)return n===0?"0 ms":"< 1 ms";if(n<1e3)return`${Math.round(n)} ms`;let r=n/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}function pr(e,n){
let r=(typeof e=="number"?e:Date.parse(e))-n,s=Math.abs(r)<12e4?ge(Math.round(r/1e3)*1e3||0):ge(r);if(Math.abs(r)<500)return"now";let o=Math.abs(r)<1e4?`${Math.
round(Math.abs(r)/1e3)} s`:s;return r>0?`in ${o}`:`${o} ago`}var ca=new Intl.NumberFormat("en-US"),P=e=>ca.format(e);function te(e,n){return`${P(e)} ${n}${e===1?
"":"s"}`}var ua={ns:1e-6,us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function pn(e){let n=0;for(let[,r="0",s="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))
n+=Number(r)*(ua[s]??0);return n}function j(e){if(!e)return"";let[,n]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return n&&Number(n)>24&&Number(n)%24===0?`${Number(n)/24}d`:
e.replace(/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function Ne(e){return e?he(e,ce.value==="utc"?"UTC":"local").replace(" ","T"):""}function ue(e){if(!e)return;
let n=new Date(ce.value==="utc"?`${e}Z`:e);return Number.isNaN(n.getTime())?void 0:n.toISOString()}function Lt(e){if(!e)return"";try{return new URL(e).host}catch{
return e}}function Ft(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var da=Symbol.for("pv"),pa=0;function t(e,n,r,s,o,a){n||(n={});var i,l,c=n;if("ref"in c&&typeof e!="function")for(l in c={},n)l=="ref"?i=n[l]:c[l]=n[l];var u={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:da,__v:--pa,__i:-1,__u:0};return(o||a)&&(u.__source=o,u.__self=a),R.vnode&&R.vnode(u),u}var mr=!1;function z({title:e,crumb:n,actions:r,children:s}){let o=le(null);return X(()=>{document.title=`${e} \xB7 Timerbus`},[e]),X(()=>{mr&&(o.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),mr=!0},[]),t(y,{children:[t("div",{class:"page-head",children:[t("div",{class:"page-title",children:[n&&t("div",{class:"crumb",
children:n}),t("h1",{tabIndex:-1,ref:o,children:e})]}),r&&t("div",{class:"actions",children:r})]}),s]})}function E({title:e,aside:n,children:r,wide:s,flush:o}){
let a=nt();return t("section",{class:`card${s?" wide":""}${o?" flush":""}`,"aria-labelledby":e?a:void 0,children:[e&&t("div",{class:"card-head",children:[t("h2",
{id:a,children:e}),n]}),r]})}function ne({kind:e,children:n}){return t("span",{class:`badge ${e}`,children:n})}var $e=({status:e})=>t(ne,{kind:e,children:e});function D({
at:e,only:n}){if(!e)return t("span",{class:"muted",children:"\u2013"});let r=he(e);if(n==="absolute")return t("time",{dateTime:e,title:e,children:r});let s=pr(e,
cr.value);return n==="relative"?t("time",{dateTime:e,title:r,children:s}):t("time",{dateTime:e,title:e,class:"time",children:[t("span",{children:r})," ",t("span",
{class:"muted",children:s})]})}function w({kind:e="",...n}){return t("button",{type:"button",...n,class:`button ${e}`})}function It({text:e,label:n="Copy"}){let[
r,s]=h(!1);X(()=>{if(!r)return;let a=setTimeout(()=>{s(!1)},2e3);return()=>{clearTimeout(a)}},[r]);let o=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let a=document.createElement("textarea");a.value=e,document.body.append(a),a.select(),document.execCommand("copy"),a.remove()}s(!0)};return t(w,{kind:"small",onClick:()=>{
o()},children:r?"Copied":n})}function Mt({text:e,label:n}){return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:e})}),
t(It,{text:e})]})}function M({title:e,children:n,command:r}){return t("div",{class:"empty",children:[t("p",{class:"empty-title",children:e}),n&&t("p",{class:"mu\
ted",children:n}),r&&t(Mt,{text:r,label:"Command"})]})}var ma={0:"Not reachable",401:"Not signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",
429:"Too many requests",503:"Not available",504:"Outcome unknown"};function me({error:e,again:n}){return t("div",{class:"error",role:"alert",children:[t("div",{
children:[t("strong",{children:ma[e.status]??"Failed"})," ",t("code",{children:[e.status||""," ",e.code]}),t("p",{children:e.message})]}),n&&t(w,{kind:"small",onClick:n,
children:"Try again"})]})}function q({of:e,children:n}){return t(y,{children:[e.error&&t(me,{error:e.error,again:e.again}),e.data!==void 0?n(e.data):e.loading&&
t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})})]})}function Ie({title:e,close:n,children:r,wide:s}){let o=le(null),
a=nt();return X(()=>{let i=o.current,l=document.activeElement;return i?.showModal(),()=>{i?.close(),l?.focus()}},[]),t("dialog",{ref:o,class:s?"wide":"","aria-l\
abelledby":a,onCancel:i=>{i.preventDefault(),n()},children:[t("div",{class:"dialog-head",children:[t("h2",{id:a,children:e}),t(w,{kind:"icon","aria-label":"Clos\
e",onClick:n,children:"\u2715"})]}),r]})}function fr({label:e,hint:n,children:r,error:s}){let o=nt(),a=n||s?`${o}-hint`:void 0;return t("div",{class:"field",children:[
t("label",{for:o,children:e}),r(o,a),(n||s)&&t("p",{id:a,class:s?"hint bad":"hint",children:s??n})]})}function N({label:e,value:n,set:r,hint:s,error:o,type:a="t\
ext",placeholder:i,required:l,mono:c,step:u}){return t(fr,{label:e,hint:s,error:o,children:(d,p)=>t("input",{id:d,type:a,value:n,placeholder:i,required:l,step:u,
spellcheck:!1,autocomplete:"off",class:c?"mono":"","aria-describedby":p,"aria-invalid":o?!0:void 0,onInput:f=>{r(f.currentTarget.value)}})})}function pt({label:e,
value:n,set:r,hint:s,error:o,rows:a=5}){return t(fr,{label:e,hint:s,error:o,children:(i,l)=>t("textarea",{id:i,rows:a,value:n,class:"mono",spellcheck:!1,"aria-d\
escribedby":l,"aria-invalid":o?!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function ie({label:e,value:n,set:r,options:s,hint:o,hideLabel:a}){let i=nt();
return t("div",{class:"field",children:[t("label",{for:i,class:a?"sr":"",children:e}),t("select",{id:i,value:n,onChange:l=>{r(l.currentTarget.value)},children:s.
map(([l,c])=>t("option",{value:l,selected:l===n,children:c},l))}),o&&t("p",{class:"hint",children:o})]})}function ke({of:e}){return t("dl",{class:"facts",children:e.
filter(([,n])=>n!==void 0&&n!==""&&n!==null).map(([n,r])=>t("div",{children:[t("dt",{children:n}),t("dd",{children:r})]},n))})}function re({caption:e,head:n,children:r,
stack:s}){return t("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:t("table",{class:s?"stack":"",children:[t("caption",{class:"sr",children:e}),
t("thead",{children:t("tr",{children:n.map((o,a)=>t("th",{scope:"col",children:o},a))})}),t("tbody",{children:r})]})})}function Ke({value:e,label:n}){let r=typeof e==
"string"?e:JSON.stringify(e,null,2);return t("div",{class:"command",children:[t("pre",{tabIndex:0,"aria-label":n,children:t("code",{children:r})}),t(It,{text:r})]})}
function hr({bars:e,label:n,every:r}){let s=fa(Math.max(1,...e.map(i=>i.value))),o=1e3/Math.max(1,e.length),a=i=>100*(1-i/s);return t(y,{children:[t("div",{class:"\
chart",role:"img","aria-label":n,children:[t("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"none","aria-hidden":"true",children:[[0,s/2,s].map(i=>t("line",{
x1:"0",x2:"1000",y1:a(i),y2:a(i)},i)),e.map((i,l)=>i.value>0&&t("rect",{x:l*o+o*.08,width:o*.84,y:Math.min(a(i.value),99),height:Math.max(1,100-a(i.value)),children:t(
"title",{children:i.title})},l))]}),[0,s/2,s].map(i=>t("span",{class:"y","aria-hidden":"true",style:{top:`${a(i)}%`},children:Me(i)},i)),e.map((i,l)=>l%r===0&&t(
"span",{class:"x","aria-hidden":"true",style:{left:`${l*o/10}%`},children:i.label},l))]}),t("details",{class:"as-table",children:[t("summary",{children:"As a ta\
ble"}),t(re,{caption:n,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>t("tr",{children:[t("td",{children:i.label}),t("td",{class:"num",children:i.
value})]},i.label+i.title))})]})]})}function fa(e){let n=10**Math.floor(Math.log10(e));for(let r of[1,1.2,1.6,2,3,4,5,6,8,10])if(r*n>=e)return Math.max(2,r*n);return e}
function Me(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e4?`${+(e/1e3).toFixed(1)}k`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(+e.toFixed(1))}function ha({values:e}){
if(e.length<2)return t("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let n=Math.max(...e,1e-9),r=e.map((s,o)=>`${(o/(e.length-1)*100).toFixed(
1)},${(22-s/n*20).toFixed(1)}`);return t("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidden":"true",children:[t("polygon",{points:`\
0,24 ${r.join(" ")} 100,24`,class:"area"}),t("polyline",{points:r.join(" "),class:"line"})]})}function V({label:e,value:n,hint:r,kind:s="",spark:o,href:a}){let i=t(
y,{children:[t("span",{class:"tile-label",children:e}),t("span",{class:"tile-value",children:n}),t("span",{class:"tile-hint",children:r}),o&&t(ha,{values:o})]});
return a?t("a",{class:`tile ${s}`,href:a,children:i}):t("div",{class:`tile ${s}`,children:i})}function mn(e){return e instanceof I?e:new I(0,"UNEXPECTED",String(e))}function de({title:e,children:n,verb:r,danger:s,path:o,body:a,done:i,close:l,after:c}){let[
u,d]=h(),[p,f]=h(!1),m=async()=>{let g=a();if(typeof g=="string"){d(new I(0,"INCOMPLETE",g));return}f(!0);try{let{late:x}=await Te(o,g);Fe(x?`${i} An earlier de\
livery may have been sent.`:i,x?"warn":"ok"),l(),c()}catch(x){d(mn(x)),f(!1)}};return t(Ie,{title:e,close:l,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},
children:[n,u&&t(me,{error:u}),u?.status===409&&t("p",{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present s\
tate."}),t("div",{class:"dialog-foot",children:[t(w,{onClick:l,children:"Cancel"}),t("button",{type:"submit",class:`button ${s?"danger":"primary"}`,disabled:p,children:p?
"Sending\u2026":r})]})]})})}var ga=250;function Ve({action:e,close:n,after:r}){let[s,o]=h("ask"),[a,i]=h(),[l,c]=h(0),[u,d]=h({matched:0,applied:0,late:0,skipped:0,
pages:0}),[p,f]=h(),m=le(new AbortController),g=le(void 0),x=le(!1),b=async()=>{o("counting"),f(void 0),m.current=new AbortController;try{i(await e.count(m.current.
signal,c)),o("counted")}catch(L){if(m.current.signal.aborted)return;f(mn(L)),o("ask")}},C=async()=>{o("running"),f(void 0),x.current=!1;let L=u;try{do{let{data:F}=await Te(
e.path,{...e.filter,limit:ga,cursor:g.current});g.current=F.nextCursor,L={matched:L.matched+F.matched,applied:L.applied+F.applied,late:L.late+(F.late??0),skipped:L.
skipped+F.skipped,pages:L.pages+1},d(L)}while(g.current&&!x.current);o(g.current?"cancelled":"ended")}catch(F){f(mn(F)),o("failed")}r()},v=()=>{m.current.abort(),
x.current=!0,n()},_=a?.n??0,T=`${te(u.applied,"timer")} ${e.done}`+(u.skipped?`, ${P(u.skipped)} skipped`:"")+(u.late?`, ${P(u.late)} of them late`:"");return t(
Ie,{title:e.title,close:v,children:[t("p",{children:e.describe}),s==="counting"&&t("p",{role:"status",children:["Counting\u2026 ",l>0&&P(l)]}),s==="counted"&&a&&
t("p",{role:"status",class:"callout",children:["Dry run: ",a.more?"at least ":"",te(a.n,"timer")," would be ",e.done,a.skipped?`, ${P(a.skipped)} would be skipp\
ed, because they were retried before`:"",". Nothing was changed."]}),u.pages>0&&t("div",{class:"progress-wrap",children:[t("progress",{max:Math.max(1,_,u.matched),
value:u.matched,"aria-label":"Progress"}),t("p",{role:"status",children:[s==="running"?"Working: ":s==="ended"?"Finished: ":s==="cancelled"?"Cancelled: ":"Stopp\
ed: ",T,s==="cancelled"&&". The others were not changed."]})]}),p&&t(me,{error:p}),t("div",{class:"dialog-foot",children:[s==="running"?t(w,{kind:"danger",onClick:()=>{
x.current=!0},children:"Cancel"}):t(w,{onClick:v,children:"Close"}),(s==="ask"||s==="counted")&&t(w,{onClick:()=>{b()},children:"Dry run"}),(s==="ask"||s==="cou\
nted")&&t(w,{kind:e.danger?"danger":"primary",onClick:()=>{C()},children:[e.verb," ",a?a.more?"all":P(a.n):"all"]}),(s==="cancelled"||s==="failed")&&t(w,{kind:"\
primary",onClick:()=>{C()},children:"Continue"})]})]})}function va(e){let n=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let s=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!s)continue;let o={};for(let[,a="",i=""]of(s[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
o[a]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);n.push({name:s[1].slice(9),labels:o,value:Number(s[3].replace("Inf","Infinity"))})}return n}var Ge=class{at=performance.now();byName=new Map;constructor(n){
for(let r of va(n)){let s=this.byName.get(r.name);s?s.push(r):this.byName.set(r.name,[r])}}sum(n,r={}){let s=this.byName.get(n)?.filter(o=>Object.entries(r).every(
([a,i])=>o.labels[a]===i));return s?.length?s.reduce((o,a)=>o+a.value,0):void 0}by(n,r,s={}){let o=new Map;for(let a of this.byName.get(n)??[]){if(!Object.entries(
s).every(([l,c])=>a.labels[l]===c))continue;let i=a.labels[r]??"";o.set(i,(o.get(i)??0)+a.value)}return o}quantile(n,r,s,o={}){let a=s?.by(`${r}_bucket`,"le",o),
i=[...this.by(`${r}_bucket`,"le",o)].map(([p,f])=>[p==="+Inf"?1/0:Number(p),f-(a?.get(p)??0)]).sort((p,f)=>p[0]-f[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;let c=n*
l,u=0,d=0;for(let[p,f]of i){if(f>=c)return p===1/0?u:u+(p-u)*(f===d?1:(c-d)/(f-d));u=p,d=f}return u}};var _a=6e4,ba=100;function U(e,n,r,s=!1){let[o,a]=h({key:""}),[i,l]=h(0),c=le(r);c.current=r;let u=ye.value==="on";wt(()=>{let p=new AbortController,f=0,m=0,g=!1,
x=v=>{clearTimeout(f),u&&n>0&&(f=window.setTimeout(()=>{b()},v))},b=async()=>{if(g||p.signal.aborted||document.hidden&&f!==0)return;g=!0;let v=performance.now();
try{let T=await c.current(p.signal);if(p.signal.aborted)return;m=0,a({key:e,data:T})}catch(T){if(p.signal.aborted)return;m++;let L=T instanceof I?T:new I(0,"UNE\
XPECTED",String(T));if(a(F=>F.key===e&&F.data!==void 0?{key:e,data:F.data,error:L}:{key:e,error:L}),L.status>=400&&L.status<500&&L.status!==429)return}finally{g=
!1}let _=s?Math.max(n,ba*(performance.now()-v)):n;x(m?Math.max(n,Math.min(_a,n*2**m)):_)},C=()=>{!document.hidden&&u&&b()};return document.addEventListener("vis\
ibilitychange",C),b(),()=>{p.abort(),clearTimeout(f),document.removeEventListener("visibilitychange",C)}},[e,n,i,u]);let d=o.key===e?o:{key:e};return{data:d.data,
error:d.error,loading:d.data===void 0&&d.error===void 0,again:()=>{l(p=>p+1)}}}var gr=60,ya=6e4;function ka(){let e=le([]),n=le({fires:[],lateness:[]}),r=Ze("read");return{poll:U(`figures/${r?"":$.value}`,r?3e3:3e4,async()=>{if(!r)return vr();
let o=new Ge(await Bt()),a=e.current;for(a.push(o);a.length>2&&o.at-a[1].at>ya;)a.shift();let i=a.length>1?a[0]:void 0,l=o.sum("dispatcher_fires_total"),c=o.sum(
"timers_pending"),u=i?(o.at-i.at)/1e3:0,d=i&&l!==void 0?Math.max(0,l-(i.sum("dispatcher_fires_total")??0))/u:void 0,p=m=>o.quantile(m,"dispatcher_lateness_secon\
ds",i)??o.quantile(m,"dispatcher_lateness_seconds"),f={lateness50:p(.5),lateness99:p(.99),fires:d,pending:c,overdue:o.sum("timers_overdue"),dead:o.sum("timers_d\
ead"),held:c===void 0?void 0:(o.sum("timers_paused")??0)+(o.sum("timers_parked")??0),oldest:o.sum("timers_oldest_overdue_seconds"),whole:!0,local:l!==void 0};return d!==
void 0&&(n.current.fires=[...n.current.fires,d].slice(-gr)),f.lateness99!==void 0&&(n.current.lateness=[...n.current.lateness,f.lateness99].slice(-gr)),c===void 0?
{...f,...await vr()}:f},!r),series:n.current}}async function vr(){let e=async i=>(await B("timers/count",{namespace:$.value,...i})).count,[n,r,s,o,a]=await Promise.
all([e({status:"scheduled"}),e({status:"scheduled",dueBefore:new Date(ut()).toISOString()}),e({status:"dead"}),e({status:"paused"}),e({status:"parked"})]);return{
pending:n,overdue:r,dead:s,held:(o??0)+(a??0),whole:!1,local:!1}}var fn=e=>e===void 0?"\u2013":ge(e*1e3);function wa({of:e}){let n=e.reasons??[],r=e.degraded??[],
s=n.length?"dead":r.length?"retrying":"done";return t("div",{class:`health ${s}`,role:"status",children:[t(ne,{kind:s,children:n.length?"not ready":r.length?"de\
graded":"healthy"}),n.length===0&&r.length===0&&t("span",{children:"Requests are served, and all parts work."}),t("ul",{children:[n.map(o=>t("li",{children:o},o)),
r.map(o=>t("li",{children:[t("strong",{children:o.part}),": ",o.reason,", ",t(D,{at:o.since})]},o.part))]})]})}var hn=[["24h","24 hours",24,30],["1h","1 hour",1,
1],["7d","7 days",168,240]];function xa(){let[e,n]=h("24h"),[,r,s,o]=hn.find(([l])=>l===e)??hn[0],a=U(`forecast/${$.value}/${e}`,6e4,l=>{let c=o*6e4,u=Math.floor(
ut()/c)*c;return B("timers/forecast",{namespace:$.value,from:new Date(u).toISOString(),to:new Date(u+s*36e5).toISOString(),bucket:`${o}m`},l)},!0),i=t("div",{class:"\
segments",role:"group","aria-label":"Range of the forecast",children:hn.map(([l,c])=>t("button",{type:"button","aria-pressed":e===l,onClick:()=>{n(l)},children:c},
l))});return t(E,{title:"Forecast",aside:i,wide:!0,children:t(q,{of:a,children:l=>{let c=Date.parse(l.from),u=l.counts.reduce((p,f)=>p+f,0),d=l.counts.map((p,f)=>{
let m=c+f*o*6e4;return{label:s>24?he(m).slice(5,16):dr(m),value:p,title:`${he(m)}: ${te(p,"timer")}`}});return t(y,{children:[t("p",{class:"muted",children:[te(
u,"timer")," of ",$.value," due in the next ",r,l.truncated&&`, counted until ${he(l.completeBefore)}`]}),u===0?t(M,{title:"Nothing is due in this time.",command:"\
timerbus timer create hello --in 1h",children:"Create a timer:"}):t(hr,{bars:d,every:Math.ceil(d.length/(innerWidth<600?4:8)),label:`Timers due in the next ${r}\
, for each ${o} minutes: ${u} in all`})]})}})})}function Ut(e){return e.callbackUrl?Lt(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Ca(){let e=U(`\
next/${$.value}`,3e3,n=>B("timers/list",{namespace:$.value,order:"due",limit:8},n));return t(E,{title:"Due next",aside:t("a",{href:A(["timers"]),children:"All t\
imers"}),flush:!0,children:t(q,{of:e,children:({timers:n})=>n.length===0?t(M,{title:"No timer waits.",command:"timerbus timer create hello --in 3s --callback-ur\
l http://127.0.0.1:9000/",children:"Create one, here or with the CLI:"}):t(re,{caption:"Timers that are due next",head:["Due","Timer","Target","Status"],children:n.
map(r=>t("tr",{children:[t("td",{children:t(D,{at:r.dueAt,only:"relative"})}),t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",
{class:"clip",children:Ut(r)}),t("td",{children:t($e,{status:r.status})})]},r.uuid))})})})}function Ta(){let e=U(`failed/${$.value}`,1e4,n=>B("timers/list",{namespace:$.
value,status:"dead",limit:8},n));return t(E,{title:"Dead letters",aside:t("a",{href:A(["dead"]),children:"By reason"}),flush:!0,children:t(q,{of:e,children:({timers:n})=>n.
length===0?t(M,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):t(re,{caption:"Some dead timers",head:["Timer","Target",
"Error"],children:n.map(r=>t("tr",{children:[t("td",{class:"id",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{class:"clip",children:Ut(r)}),
t("td",{class:"clip",title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function _r(){let e=U("health",5e3,()=>rr()),{poll:n,series:r}=ka(),
s=n.data,o=s&&!s.whole?`namespace ${$.value}`:"cluster";return t(z,{title:"Overview",children:[t(q,{of:e,children:a=>t(wa,{of:a})}),t(q,{of:n,children:a=>t(y,{children:[
t("div",{class:"tiles",children:[t(V,{label:"Lateness p50",value:fn(a.lateness50),hint:"start of the attempt",kind:a.lateness50!==void 0&&a.lateness50>5?"warn":
""}),t(V,{label:"Lateness p99",value:fn(a.lateness99),hint:"last minute",kind:a.lateness99!==void 0&&a.lateness99>10?"warn":"",spark:r.lateness}),t(V,{label:"Fi\
res",value:a.fires===void 0?"\u2013":`${Me(a.fires)}/s`,hint:"last minute",spark:r.fires}),t(V,{label:"Pending",value:a.pending===void 0?"\u2013":Me(a.pending),
hint:(a.pending??0)<1e3?"scheduled, retrying":P(a.pending??0),href:A(["timers"])}),t(V,{label:"Backlog",value:a.overdue===void 0?"\u2013":Me(a.overdue),hint:a.oldest?
`oldest ${fn(a.oldest)}`:"overdue timers",kind:(a.oldest??0)>10?"warn":""}),t(V,{label:"Dead",value:a.dead===void 0?"\u2013":Me(a.dead),hint:"can be retried",kind:a.
dead?"bad":"",href:A(["dead"])}),t(V,{label:"Paused, parked",value:a.held===void 0?"\u2013":Me(a.held),hint:o,href:A(["timers"],{status:"paused"})})]}),!a.local&&
t("p",{class:"callout",children:a.whole?t(y,{children:["This process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",t("code",
{children:"/metrics"}),"; the Grafana dashboard shows all processes."]}):t(y,{children:"Lateness and fires need the right to read all namespaces."})})]})}),t("d\
iv",{class:"grid",children:[t(xa,{}),t(Ca,{}),t(Ta,{})]})]})}var Sa=50,$a=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];async function qt(e,n,r){if(!e.correlationId){let{correlationId:o,...a}=e,{count:i,truncated:l}=await B("timers/count",a,n);return{n:i,more:l}}
let s=0;for(let o;;){let a=await B("timers/list",{...e,limit:1e3,cursor:o},n);if(r(s+=a.timers.length),o=a.nextCursor,!o)return{n:s,more:!1}}}function gn({timers:e,
caption:n}){return t(re,{caption:n,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{class:"id",
"data-label":"Timer",children:t("a",{href:A(["timers",r.id]),children:r.id})}),t("td",{"data-label":"Status",children:t($e,{status:r.status})}),t("td",{"data-la\
bel":"Due",children:t(D,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),t("td",{class:"clip","data-label":"Target",title:r.callbackUrl??r.topic,
children:Ut(r)}),t("td",{class:"num","data-label":"Attempts",children:r.attempts}),t("td",{class:"clip","data-label":"Last error",title:r.lastError,children:r.lastError??
t("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function br(){let e=ee.value.query,n=e.get("status")??"",r=e.get("correlationId")??"",s=e.
get("dueFrom")??"",o=e.get("dueBefore")??"",a=e.get("cursor")??"",i=(n===""||n==="scheduled"||n==="retrying")&&!r&&e.get("order")!=="key",[l,c]=h(""),[u,d]=h(null),
p={namespace:$.value,status:n||void 0,correlationId:r||void 0,dueFrom:s||void 0,dueBefore:o||void 0},f=JSON.stringify([p,i,a]),m=U(f,a?1e4:3e3,_=>B("timers/list",
{...p,order:i?"due":"key",limit:Sa,cursor:a||void 0},_)),g=U(r?"":JSON.stringify(p),r?0:3e4,_=>{let{correlationId:T,...L}=p;return B("timers/count",L,_)},!0),x=oe(
"write",$.value),b=_=>{let T={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:[
"Retry timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[L,F,pe]=T[_],{status:Q,...S}=p,k=_==="resume"?S:p;d({title:L,
verb:F,done:pe,path:`timers/${_}-matching`,filter:k,danger:_==="delete"||_==="purge",describe:t(y,{children:["All timers of ",t("strong",{children:$.value})," t\
hat this page\u2019s filter selects, not only those of the shown page."]}),count:(W,O)=>qt({...p,status:_==="resume"?"paused":p.status},W,O)})},C=!!(n||r||s||o),
v=x&&t(y,{children:[(n===""||n==="scheduled"||n==="retrying")&&t(w,{onClick:()=>{b("pause")},children:"Pause all\u2026"}),(n===""||n==="paused")&&t(w,{onClick:()=>{
b("resume")},children:"Resume all\u2026"}),(n==="dead"||n==="parked")&&t(w,{onClick:()=>{b("retry")},children:"Retry all\u2026"}),(n==="dead"||n==="done")&&t(w,
{onClick:()=>{b("purge")},children:"Delete all\u2026"}),n!=="dead"&&n!=="done"&&C&&t(w,{onClick:()=>{b("delete")},children:"Delete all\u2026"}),t("a",{class:"bu\
tton primary",href:A(["new","timer"]),children:"Create timer"})]});return t(z,{title:"Timers",actions:v,children:[t("form",{class:"filters",role:"search",onSubmit:_=>{
_.preventDefault(),l.trim()&&ae(["timers",l.trim()])},children:[t("div",{class:"field",children:[t("label",{for:"open",children:"Open by id"}),t("div",{class:"j\
oined",children:[t("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1842",spellcheck:!1,onInput:_=>{c(_.currentTarget.value)}}),t("b\
utton",{type:"submit",class:"button",children:"Open"})]})]}),t(ie,{label:"Status",value:n,options:$a,set:_=>{fe({status:_})}}),t(Ue,{label:"Correlation id",value:r,
set:_=>{fe({correlationId:_})}}),t(Ue,{label:`Due from (${ce.value==="utc"?"UTC":"local"})`,type:"datetime-local",value:Ne(s),set:_=>{fe({dueFrom:ue(_)})}}),t(Ue,
{label:"Due before",type:"datetime-local",value:Ne(o),set:_=>{fe({dueBefore:ue(_)})}}),(C||a)&&t(w,{kind:"ghost",onClick:()=>{ae(["timers"])},children:"Clear"})]}),
t(E,{flush:!0,wide:!0,children:t(q,{of:m,children:_=>t(y,{children:[_.timers.length===0?t(M,{title:C||a?"No timer matches.":"There are no timers in this namespa\
ce.",command:C||a?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${$.value}`,children:C||a?_.nextCursor?"This page is empt\
y; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):t(gn,{timers:_.timers,caption:"Timers"}),t("div",
{class:"pager",children:[t("span",{class:"muted",role:"status",children:[r?"":g.data?`${g.data.truncated?"at least ":""}${P(g.data.count)} in all`:"",i?(r?"":",\
 ")+"the next due first":", in a fixed order"]}),t("span",{class:"pager-buttons",children:[a&&t("a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),
cursor:void 0}),children:"First page"}),_.nextCursor&&t("a",{class:"button",href:A(["timers"],{...Object.fromEntries(e),cursor:_.nextCursor}),children:"Next pag\
e"})]})]})]})})}),u&&t(Ve,{action:u,close:()=>{d(null)},after:()=>{m.again(),g.again()}})]})}function Ue({label:e,value:n,set:r,type:s}){let[o,a]=h(n),[i,l]=h(n);
i!==n&&(l(n),a(n));let c=()=>{o!==n&&r(o)};return t("div",{onFocusOut:c,onKeyDown:u=>{u.key==="Enter"&&(u.preventDefault(),c())},children:t(N,{label:e,value:o,set:a,
type:s,step:s?"1":void 0})})}var yr=5e3,Aa=500,Pa=20;function Ea(e,n){for(let r of n){let s=r.callbackUrl?Lt(r.callbackUrl):r.topic?`topic ${r.topic}`:"event",o=r.lastError??"",a=`${r.callbackUrl?
"u":"e"}\0${r.callbackUrl?s:""}\0${o}`,i=e.groups.get(a);i||(i={host:s,hasURL:!!r.callbackUrl,error:o,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,
newest:r.executeAt},e.groups.set(a,i)),i.count++,i.timers.length<Pa&&i.timers.push(r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=
r.executeAt)}e.read+=n.length}function Na({of:e}){let[n,r]=h(e.timers);return X(()=>{let s=new AbortController,o=a=>B("timers/get",{namespace:a.namespace,id:a.id},
s.signal).then(i=>i.generation===a.generation?a:{...a,status:i.status},()=>a);return Promise.all(e.timers.map(o)).then(a=>{s.signal.aborted||r(a)}),()=>{s.abort()}},
[e.timers]),t(gn,{timers:n,caption:`Dead timers of ${e.host}`})}function kr(){let e=ee.value.query,n=e.get("correlationId")??"",r=e.get("dueFrom")??"",s=e.get("\
dueBefore")??"",o=$.value,a={namespace:o,status:"dead",correlationId:n||void 0,dueFrom:r||void 0,dueBefore:s||void 0},i=JSON.stringify(a),[l,c]=h(),[u,d]=h(),[p,
f]=h(!0),[m,g]=h(),[x,b]=h(null),[C,v]=h(0),_=async(S,k,W=!1)=>{let O=S?{groups:new Map([...S.groups].map(([G,ve])=>[G,{...ve,timers:[...ve.timers]}])),read:S.read,
cursor:S.cursor}:{groups:new Map,read:0,cursor:void 0},Z=O.read+yr;f(!0);try{do{let G=await B("timers/list",{...a,limit:Aa,cursor:O.cursor},k);Ea(O,G.timers),O.
cursor=G.nextCursor,W||c({...O})}while(O.cursor&&O.read<Z);c({...O}),d(void 0)}catch(G){if(k.aborted)return;d(G instanceof I?G:new I(0,"UNEXPECTED",String(G)))}
f(!1)};X(()=>{let S=new AbortController;return _(void 0,S.signal,C>0),()=>{S.abort()}},[i,C]),X(()=>{if(ye.value!=="on"||x||(l?.read??0)>=yr)return;let S=setTimeout(
()=>{document.hidden||v(k=>k+1)},1e4);return()=>{clearTimeout(S)}},[C,ye.value,x,l?.read]);let T=(S,k)=>{let W=k?{...a,callbackHost:k.hasURL?k.host:"",lastError:k.
error||void 0}:{...a},O=`timers/${S}-matching`;b({title:S==="retry"?"Retry dead timers":"Delete dead timers",verb:S==="retry"?"Retry":"Delete",done:S==="retry"?
"started again":"removed from history",path:O,filter:W,danger:S==="purge",describe:k?t(y,{children:["All dead timers of ",t("strong",{children:o})," that call ",
t("strong",{children:k.host})," and failed with ",t("q",{children:k.error}),"."]}):t(y,{children:["All dead timers of ",t("strong",{children:o})," that this pag\
e\u2019s filter selects, also those that were not read yet."]}),count:async(Z,G)=>{let ve=0,mt=0;for(let qe;;){let{data:Xe}=await Te(O,{...W,dryRun:!0,limit:1e3,
cursor:qe},Z);if(G(ve+=Xe.applied),mt+=Xe.skipped,qe=Xe.nextCursor,!qe)return{n:ve,more:!1,skipped:mt}}}})},L=oe("write",o),F=l?[...l.groups].sort(([,S],[,k])=>k.
count-S.count):[],pe=!!(n||r||s),Q=L&&F.length>0&&t(y,{children:[t(w,{kind:"primary",onClick:()=>{T("retry")},children:"Retry all\u2026"}),t(w,{kind:"danger-gho\
st",onClick:()=>{T("purge")},children:"Delete all\u2026"})]});return t(z,{title:"Dead letters",actions:Q,children:[t("form",{class:"filters",role:"search",onSubmit:S=>{
S.preventDefault()},children:[t(Ue,{label:"Correlation id",value:n,set:S=>{fe({correlationId:S})}}),t(Ue,{label:"Planned from",type:"datetime-local",value:Ne(r),
set:S=>{fe({dueFrom:ue(S)})}}),t(Ue,{label:"Planned before",type:"datetime-local",value:Ne(s),set:S=>{fe({dueBefore:ue(S)})}}),pe&&t(w,{kind:"ghost",onClick:()=>{
ae(["dead"])},children:"Clear"})]}),u&&t(me,{error:u,again:()=>{v(S=>S+1)}}),!l&&p&&t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"\
Loading"})}),l&&F.length===0&&!p&&t(E,{children:t(M,{title:pe?"No dead timer matches.":"No timer is dead.",children:pe?"Change the filter, or clear it.":t(y,{children:[
"Timers whose retry policy has ended appear here, with their payload, for the dead retention of the namespace. ",t("a",{href:A(["timers"],{status:"retrying"}),children:"\
Timers that are retried"})]})})}),l&&F.length>0&&t(y,{children:[t("p",{class:"muted",role:"status",children:[te(l.read,"dead timer")," in ",te(F.length,"group"),
", by host and reason",l.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retentio\
n ends."]}),t("div",{class:"groups",children:F.map(([S,k])=>t("section",{class:"card group","aria-label":`${k.host}: ${k.error}`,children:[t("div",{class:"group\
-head",children:[t("span",{class:"group-count",children:P(k.count)}),t("div",{class:"group-text",children:[t("div",{children:[t("strong",{children:k.host})," ",
k.status?t(ne,{kind:"dead",children:["HTTP ",k.status]}):null]}),t("div",{class:"reason",children:k.error||"no reason"}),t("div",{class:"muted",children:["plann\
ed ",he(k.oldest),k.newest!==k.oldest&&` to ${he(k.newest)}`]})]}),t("div",{class:"actions",children:[L&&t(w,{kind:"small",onClick:()=>{T("retry",k)},children:"\
Retry\u2026"}),L&&t(w,{kind:"small danger-ghost",onClick:()=>{T("purge",k)},children:"Delete\u2026"}),t(w,{kind:"small ghost","aria-expanded":m===S,onClick:()=>{
g(m===S?void 0:S)},children:[m===S?"Hide":"Show"," timers"]})]})]}),m===S&&t(Na,{of:k}),m===S&&k.count>k.timers.length&&t("p",{class:"muted pad",children:["The \
first ",k.timers.length," of ",P(k.count),"."]})]},S))}),l.cursor&&t("p",{children:t(w,{disabled:p,onClick:()=>{_(l,new AbortController().signal)},children:p?"R\
eading\u2026":"Read more"})})]}),x&&t(Ve,{action:x,close:()=>{b(null)},after:()=>{v(S=>S+1)}})]})}function wr(e){return e.cron?e.cron:e.every?`every ${j(e.every)}`:e.rrule?e.rrule:te(e.dates?.length??0,"date")}function Ba({payload:e,request:n,headers:r,...s}){
return be.hidePayloads?s:{...s,payload:e,request:n,headers:r}}function xr(){let e=ee.value.query.get("status")??"",n=ee.value.query.get("cursor")??"",r=$.value,
s=U(`${r}/${e}/${n}`,5e3,o=>B("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:n||void 0},o));return t(z,{title:"Schedules",actions:oe("write",r)&&
t("a",{class:"button primary",href:A(["new","schedule"]),children:"Create schedule"}),children:[t("form",{class:"filters",role:"search",onSubmit:o=>{o.preventDefault()},
children:t(ie,{label:"Status",value:e,set:o=>{fe({status:o})},options:[["","All"],["active","Active"],["paused","Paused"],["parked","Parked"]]})}),t(E,{flush:!0,
wide:!0,children:t(q,{of:s,children:o=>t(y,{children:[o.schedules.length===0?t(M,{title:e?`No schedule is ${e}.`:"There are no schedules in this namespace.",command:e?
void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&"A schedule creates a timer for each of i\
ts instants. Create the first one, here or with the CLI:"}):t(re,{caption:"Schedules",head:["Schedule","Status","Occurs","Time zone","Next","Created"],stack:!0,
children:o.schedules.map(a=>t("tr",{children:[t("td",{class:"id","data-label":"Schedule",children:t("a",{href:A(["schedules",a.id]),children:a.id})}),t("td",{"d\
ata-label":"Status",children:t($e,{status:a.status})}),t("td",{class:"clip","data-label":"Occurs",children:t("code",{children:a.specs.map(wr).join("; ")})}),t("\
td",{"data-label":"Time zone",children:a.timeZone}),t("td",{"data-label":"Next",children:t(D,{at:a.nextAt})}),t("td",{class:"num","data-label":"Created",children:a.
created})]},a.id))}),(o.nextCursor||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(
["schedules"],{status:e}),children:"First page"}),o.nextCursor&&t("a",{class:"button",href:A(["schedules"],{status:e,cursor:o.nextCursor}),children:"Next page"})]})]})]})})})]})}
var Ra={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is the first of the two.",second:"The clock\
s repeat its local time; this is the second of the two."};function vn({of:e,timeZone:n}){return e.length===0?t(M,{title:"There are no further occurrences."}):t(
re,{caption:"Next occurrences",head:[`Local time (${n})`,"Instant","Remark"],stack:!0,children:e.map(r=>t("tr",{children:[t("td",{"data-label":"Local time",children:r.
local.replace("T"," ")}),t("td",{"data-label":"Instant",children:t(D,{at:r.at})}),t("td",{"data-label":"Remark",children:r.remark?t(y,{children:[t(ne,{kind:"ret\
rying",children:"DST"})," ",Ra[r.remark]]}):t("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Cr({id:e}){let n=$.value,r=U(`schedule/${n}/${e}`,
3e3,d=>B("schedules/get",{namespace:n,id:e},d)),s=r.data,o=U(`preview/${n}/${e}/${s?.version??0}`,3e4,d=>B("schedules/preview",{namespace:n,id:e,limit:10},d)),a=U(
`decisions/${n}/${e}`,5e3,d=>B("schedules/history",{namespace:n,id:e,limit:50},d)),[i,l]=h(null);X(()=>(Se.value=s?.timeZone??null,()=>{Se.value=null}),[s?.timeZone]);
let c=()=>{r.again(),a.again(),o.again()},u=s&&oe("write",n)&&s.status!=="ended"&&t(y,{children:[t(w,{kind:"primary",onClick:()=>{l("trigger")},children:"Trigge\
r\u2026"}),s.status==="active"?t(w,{onClick:()=>{l("pause")},children:"Pause\u2026"}):t(w,{onClick:()=>{l("resume")},children:"Resume\u2026"}),t(w,{onClick:()=>{
l("backfill")},children:"Backfill\u2026"}),t(w,{kind:"danger-ghost",onClick:()=>{l("delete")},children:"Delete\u2026"})]});return t(z,{title:e,crumb:t(y,{children:[
t("a",{href:A(["schedules"]),children:"Schedules"})," / ",n]}),actions:u,children:[t(q,{of:r,children:d=>t("div",{class:"grid",children:[t(Da,{of:d}),t(E,{title:"\
Timer of an occurrence",children:[t(Ke,{value:Ba(d.timer),label:"Template"}),be.hidePayloads&&t("p",{class:"hint",children:"Its payload, body and headers are hi\
dden by the settings of the server."})]}),t(E,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&t("span",{class:"muted",children:["time zones ",o.data.zoneVersion]}),
children:[d.status==="paused"&&t("p",{class:"callout",children:"The schedule is paused: these occurrences are not created until it is resumed."}),t(q,{of:o,children:p=>t(
vn,{of:p.occurrences,timeZone:p.timeZone})})]}),t(E,{title:"Decisions",wide:!0,flush:!0,children:t(q,{of:a,children:({decisions:p})=>p.length===0?t(M,{title:"No\
 occurrence was due yet."}):t(re,{caption:"Decisions about occurrences",head:["Occurrence","Decision","Reason","Timer"],stack:!0,children:p.map(f=>t("tr",{children:[
t("td",{"data-label":"Occurrence",children:t(D,{at:f.at})}),t("td",{"data-label":"Decision",children:t(ne,{kind:f.decision==="created"?"done":f.decision==="skip\
ped"?"retrying":"paused",children:f.decision})}),t("td",{"data-label":"Reason",children:f.reason??t("span",{class:"muted",children:"\u2013"})}),t("td",{class:"i\
d","data-label":"Timer",children:f.timerId?t("a",{href:A(["timers",f.timerId]),children:f.timerId}):t("span",{class:"muted",children:"\u2013"})})]},f.at+f.decidedAt+
f.decision))})})})]})}),s&&i&&t(Oa,{of:s,action:i,close:()=>{l(null)},after:c})]})}function Da({of:e}){return t(E,{title:"Definition",aside:t($e,{status:e.status}),
children:[e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(D,{at:e.pause.at}),e.pause.note&&`: ${e.pause.note}`]}),t(ke,
{of:[["Occurs",e.specs.map((n,r)=>t("div",{children:t("code",{children:wr(n)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&t(D,{at:e.nextAt})],["Created ti\
mers",e.created],["From",e.start&&t(D,{at:e.start})],["Until",e.end&&t(D,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.
catchUp}, within ${j(e.catchUpWindow)}`:e.catchUp],["Skipped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Versio\
n",e.version],["Updated",t(D,{at:e.updatedAt})]]})]})}function Oa({of:e,action:n,close:r,after:s}){let[o,a]=h(""),[i,l]=h("keep"),c={namespace:e.namespace,id:e.
id},u={close:r,after:s};switch(n){case"trigger":return t(de,{...u,title:"Trigger",verb:"Trigger",path:"schedules/trigger",body:()=>c,done:`${e.id} has created a\
n occurrence.`,children:t("p",{children:"Creates an occurrence now, in addition to the planned ones."})});case"pause":return t(de,{...u,title:"Pause",verb:"Paus\
e",path:"schedules/pause",body:()=>({...c,note:o||void 0}),done:`${e.id} is paused.`,children:[t("p",{children:"A paused schedule creates no occurrences."}),t(N,
{label:"Note",value:o,set:a})]});case"resume":return t(de,{...u,title:"Resume",verb:"Resume",path:"schedules/resume",body:()=>c,done:`${e.id} is resumed.`,children:t(
"p",{children:"The schedule continues with its next occurrence."})});case"delete":return t(de,{...u,title:"Delete",verb:"Delete",danger:!0,path:"schedules/delet\
e",done:`${e.id} is deleted.`,after:()=>{ae(["schedules"])},body:()=>({...c,pending:i,ifVersion:e.version}),children:t(ie,{label:"Its timers that are not finish\
ed",value:i,set:l,options:[["keep","Keep them"],["delete","Delete them"]]})});default:return t(La,{of:e,...u})}}function La({of:e,close:n,after:r}){let[s,o]=h(""),
[a,i]=h(""),[l,c]=h(),[u,d]=h(""),[p,f]=h(!1),m=async()=>{let g=ue(a),x=ue(s);if(!x||!g){c(new I(0,"INCOMPLETE","Enter both times."));return}f(!0),c(void 0);let b=0,
C=0;try{do{let v=await B("schedules/backfill",{namespace:e.namespace,id:e.id,from:x,to:g});b+=v.created,C+=v.kept,x=v.nextFrom,d(`${te(b,"occurrence")} created,\
 ${C} existed${x?`, continuing at ${he(x)}`:""}.`)}while(x);Fe(`${e.id}: ${te(b,"occurrence")} created, ${C} existed.`),n()}catch(v){c(v instanceof I?v:new I(0,
"UNEXPECTED",String(v))),f(!1)}r()};return t(Ie,{title:"Backfill",close:n,children:t("form",{onSubmit:g=>{g.preventDefault(),m()},children:[t("p",{children:"Cre\
ates the occurrences of a past time range that do not exist. They are delivered at once."}),t(N,{label:"From",type:"datetime-local",step:"1",value:s,set:o,required:!0}),
t(N,{label:"Before",type:"datetime-local",step:"1",value:a,set:i,required:!0,hint:"Not in the future."}),u&&t("p",{role:"status",class:"callout",children:u}),l&&
t(me,{error:l}),t("div",{class:"dialog-foot",children:[t(w,{onClick:n,children:"Close"}),t("button",{type:"submit",class:"button primary",disabled:p,children:p?
"Working\u2026":"Backfill"})]})]})})}function Tr(e,n){return`curl${xe.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${sr}/api/v1/${e} \\
  -d ${Ft(JSON.stringify(n,null,2))}`}function Sr(e,n){let r=[...n,...$.value==="default"?[]:[["--namespace",$.value]]],s=e.at(-1)??"";return["timerbus "+(s.startsWith(
"-")?[...e.slice(0,-1),`--id=${s}`]:e).map(Ft).join(" "),...r.filter(([,a])=>a).map(([a,i])=>`  ${a} ${Ft(i)}`)].join(` \\
`)}function $r(e){if(!e.trim())return{};try{return{value:lt(e)}}catch(n){return{error:`Not JSON: ${n.message}`}}}function _n(e){return Object.fromEntries(Object.
entries(e).filter(([,n])=>n!==void 0&&n!==""))}function Ar({curl:e,cli:n}){return t(E,{title:"The same request",children:[t("h3",{children:"curl"}),t(Mt,{text:e,
label:"curl"}),t("h3",{children:"Command line"}),t(Mt,{text:n,label:"Command line"})]})}function Pr({send:e,label:n}){let[r,s]=h(),[o,a]=h(!1),i=async()=>{a(!0),
s(void 0);try{await e()}catch(l){s(l instanceof I?l:new I(0,"INCOMPLETE",l.message))}a(!1)};return t(y,{children:[r&&t(me,{error:r}),!oe("write",$.value)&&t("p",
{class:"callout",children:["You have no right to write in ",$.value,"."]}),t("button",{type:"button",class:"button primary",disabled:o||!oe("write",$.value),onClick:()=>{
i()},children:o?"Sending\u2026":n})]})}var Er=[["fail","Refuse (409)"],["replace","Replace it"],["keep","Keep it"]];function Nr({children:e}){return t("details",
{class:"more",children:[t("summary",{children:"More settings"}),e]})}function Br(){let[e,n]=h(""),[r,s]=h("in"),[o,a]=h("15m"),[i,l]=h(""),[c,u]=h(""),[d,p]=h(dn),
[f,m]=h("http://127.0.0.1:9000/"),[g,x]=h('{"order": 1842}'),[b,C]=h(""),[v,_]=h(""),[T,L]=h(""),[F,pe]=h(""),[Q,S]=h("fail"),k=$r(g),W=_n({namespace:$.value,id:e,
executeIn:r==="in"?o:void 0,executeAt:r==="at"?ue(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,timeZone:r==="local"?d:void 0,callbackUrl:f,
payload:k.value,retryPolicy:b?{maxAttempts:Number(b)}:void 0,callbackTimeout:v,correlationId:T,flowKey:F,onConflict:Q}),O=[["--in",r==="in"?o:""],["--at",r==="a\
t"?ue(i)??"":""],["--at-local",String(W.executeAtLocal??"")],["--time-zone",String(W.timeZone??"")],["--callback-url",f],["--payload",k.value===void 0?"":JSON.stringify(
k.value)],["--max-attempts",b],["--callback-timeout",v],["--correlation-id",T],["--flow-key",F],["--on-conflict",Q]],Z=async()=>{if(k.error)throw new Error(k.error);
if(r==="at"&&!ue(i))throw new Error("Enter the time completely.");let{data:G,late:ve}=await Te("timers/create",W);Fe(ve?`${G.id} is replaced. An earlier deliver\
y may have been sent.`:`${G.id} is created.`,ve?"warn":"ok"),ae(["timers",G.id])};return t(z,{title:"Create timer",crumb:t(y,{children:[t("a",{href:A(["timers"]),
children:"Timers"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new","schedule"]),children:"Schedule instead"}),children:t("div",{class:"grid form",
children:[t(E,{title:"Timer",children:[t(N,{label:"Id",value:e,set:n,required:!0,placeholder:"order-1842",mono:!0,hint:"Unique in the namespace."}),t(ie,{label:"\
When",value:r,set:s,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),r==="in"&&t(N,{label:"Duration",value:o,set:a,hint:"\
Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&t(N,{label:`Time (${ce.value==="utc"?"UTC":"local"})`,type:"datetime-local",step:"1",value:i,set:l}),r==="local"&&
t(y,{children:[t(N,{label:"Local time",type:"datetime-local",step:"1",value:c,set:u}),t(N,{label:"Time zone",value:d,set:p,hint:"If the rules of the zone change\
, the timer moves with them."})]}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an event on timerbus.fired."}),t(pt,{label:"Payload (JSON)",value:g,
set:x,error:k.error}),t(ie,{label:"If the id exists",value:Q,set:S,options:Er}),t(Nr,{children:[t(N,{label:"Attempts, at most",type:"number",value:b,set:C,hint:"\
1 to 1000; by default those of the namespace."}),t(N,{label:"Callback timeout",value:v,set:_,placeholder:"30s"}),t(N,{label:"Correlation id",value:T,set:L}),t(N,
{label:"Flow key",value:F,set:pe,hint:"Timers with the same key share a limit of the namespace."})]}),t(Pr,{send:Z,label:"Create timer"})]}),t(Ar,{curl:Tr("time\
rs/create",W),cli:Sr(["timer","create",e||"order-1842"],O)})]})})}function Rr(){let[e,n]=h(""),[r,s]=h("cron"),[o,a]=h("0 8 * * MON-FRI"),[i,l]=h("15m"),[c,u]=h(
"FREQ=MONTHLY;BYDAY=-1FR"),[d,p]=h(dn),[f,m]=h("http://127.0.0.1:9000/"),[g,x]=h(""),[b,C]=h("allow"),[v,_]=h("all"),[T,L]=h(""),[F,pe]=h("fail"),[Q,S]=h(),[k,W]=h(),
O=$r(g),Z=r==="cron"?{cron:o}:r==="every"?{every:i}:{rrule:c},G=r!=="every",ve=_n({namespace:$.value,id:e,specs:[Z],timeZone:G?d:void 0,overlap:b,catchUp:v,count:T?
Number(T):void 0,timer:_n({callbackUrl:f,payload:O.value}),onConflict:F}),mt=[[`--${r}`,String(Object.values(Z)[0])],["--time-zone",G?d:""],["--callback-url",f],
["--payload",O.value===void 0?"":JSON.stringify(O.value)],["--overlap",b],["--catch-up",v],["--count",T],["--on-conflict",F]],qe=JSON.stringify({namespace:$.value,
specs:[Z],timeZone:G?d:void 0});X(()=>{let He=new AbortController,Ur=setTimeout(()=>{B("schedules/preview",{...JSON.parse(qe),limit:6},He.signal).then(ft=>{S(ft),
W(void 0)},ft=>{!He.signal.aborted&&ft instanceof I&&(W(ft),S(void 0))})},300);return()=>{clearTimeout(Ur),He.abort()}},[qe]);let Xe=async()=>{if(O.error)throw new Error(
O.error);let{data:He}=await Te("schedules/create",ve);Fe(`${He.id} is created.`),ae(["schedules",He.id])};return t(z,{title:"Create schedule",crumb:t(y,{children:[
t("a",{href:A(["schedules"]),children:"Schedules"})," / ",$.value]}),actions:t("a",{class:"button",href:A(["new","timer"]),children:"Timer instead"}),children:t(
"div",{class:"grid form",children:[t(E,{title:"Schedule",children:[t(N,{label:"Id",value:e,set:n,required:!0,placeholder:"daily-report",mono:!0}),t(ie,{label:"O\
ccurs",value:r,set:s,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&t(N,{label:"Cron expression",value:o,set:a,mono:!0,
hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&t(N,{label:"Interval",value:i,set:l,hint:"At least 1s."}),r===
"rrule"&&t(N,{label:"RRULE",value:c,set:u,mono:!0}),G&&t(N,{label:"Time zone",value:d,set:p}),t(N,{label:"Callback URL",value:f,set:m,mono:!0,hint:"Empty: an ev\
ent on timerbus.fired."}),t(pt,{label:"Payload (JSON)",value:g,set:x,error:O.error,rows:3}),t(ie,{label:"If the id exists",value:F,set:pe,options:Er}),t(Nr,{children:[
t(ie,{label:"If the earlier occurrence is not finished",value:b,set:C,options:[["allow","Create the next one"],["skip","Leave the next one out"],["queue","Creat\
e it afterwards"],["cancelOther","Delete the earlier one"]]}),t(ie,{label:"After an outage",value:v,set:_,options:[["all","Create all of the last minute"],["las\
t","Create the last one"],["none","Create none"]]}),t(N,{label:"Occurrences, at most",type:"number",value:T,set:L})]}),t(Pr,{send:Xe,label:"Create schedule"})]}),
t("div",{class:"column",children:[t(E,{title:"Next occurrences",flush:!0,children:[k&&t(me,{error:k}),Q&&t(vn,{of:Q.occurrences,timeZone:Q.timeZone})]}),t(Ar,{curl:Tr(
"schedules/create",ve),cli:Sr(["schedule","create",e||"daily-report"],mt)})]})]})})}function Dr(){let e=U("namespaces",15e3,()=>Rt()),[n,r]=h(!1);return t(z,{title:"Namespaces",actions:Ze("admin")&&t(w,{kind:"primary",onClick:()=>{r(!0)},children:"\
Create namespace\u2026"}),children:[t(E,{flush:!0,wide:!0,children:t(q,{of:e,children:s=>s.length===0?t(M,{title:"You may read no namespace.",command:"timerbus \
key list",children:"Ask an administrator for a grant such as read@default."}):t(re,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host concu\
rrency","Max. pending","Signed","Updated"],stack:!0,children:s.map(o=>t("tr",{children:[t("td",{class:"id","data-label":"Namespace",children:[t("a",{href:A(["na\
mespaces",o.name]),children:o.name})," ",o.deletingSince&&t(ne,{kind:"dead",children:"being deleted"})]}),t("td",{class:"num","data-label":"Shards",children:o.numShards}),
t("td",{"data-label":"History",children:j(o.settings.historyRetention)}),t("td",{"data-label":"Dead",children:j(o.settings.deadRetention)}),t("td",{class:"num",
"data-label":"Host concurrency",children:o.settings.hostConcurrency}),t("td",{class:"num","data-label":"Max. pending",children:o.settings.quota?.maxPending?P(o.
settings.quota.maxPending):t("span",{class:"muted",children:"no limit"})}),t("td",{"data-label":"Signed",children:o.settings.secrets?.length?"yes":t("span",{class:"\
muted",children:"no"})}),t("td",{"data-label":"Updated",children:t(D,{at:o.updatedAt,only:"relative"})})]},o.name))})})}),n&&t(Fa,{close:()=>{r(!1)},after:e.again})]})}
function Fa({close:e,after:n}){let[r,s]=h(""),[o,a]=h("small");return t(de,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?{name:r,preset:o}:
"Enter a name.",done:`${r} is created.`,close:e,after:n,children:[t(N,{label:"Name",value:r,set:s,required:!0}),t(ie,{label:"Size",value:o,set:a,hint:"It can ne\
ver be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["xlarge","Below 1\
00,000,000 (4,096)"]]})]})}function Or({name:e}){let n=U(`namespace/${e}`,5e3,c=>B("namespaces/get",{name:e},c)),[r,s]=h(null),[o,a]=h(!1),i=c=>{s({title:`${c===
"pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},describe:c===
"pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:async(u,d)=>{
if(c==="resume")return qt({namespace:e,status:"paused"},u,d);let[p,f]=await Promise.all(["scheduled","retrying"].map(m=>qt({namespace:e,status:m},u,()=>{})));return{
n:(p?.n??0)+(f?.n??0),more:!!(p?.more||f?.more)}}})},l=n.data&&t(y,{children:[oe("write",e)&&t(w,{onClick:()=>{i("pause")},children:"Pause all timers\u2026"}),oe(
"write",e)&&t(w,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),oe("admin",e)&&t(w,{kind:"primary",onClick:()=>{a(!0)},children:"Edit\u2026"})]});
return t(z,{title:e,crumb:t("a",{href:A(["namespaces"]),children:"Namespaces"}),actions:l,children:[t(q,{of:n,children:c=>{let u=c.settings,d=u.retryPolicy;return t(
"div",{class:"grid",children:[t(E,{title:"Settings",aside:c.deletingSince&&t(ne,{kind:"dead",children:"being deleted"}),children:t(ke,{of:[["Shards",c.numShards],
["Callback timeout",j(u.callbackTimeout)],["Retry",`${te(d.maxAttempts,"attempt")}, from ${j(d.initialInterval)}, \xD7 ${d.backoffMultiplier}, to ${j(d.maxInterval)}`],
["History",j(u.historyRetention)],["Dead timers",j(u.deadRetention)],["Payloads of done timers",u.keepPayload?j(u.keepPayload):"not kept"],["Final statuses",u.finalStatuses?.
join(", ")],["Event topics",u.eventTopics?.join(", ")],["On done",u.onDone&&t("code",{children:u.onDone})],["On dead",u.onDead&&t("code",{children:u.onDead})],[
"Headers",u.headers&&Object.keys(u.headers).join(", ")],["Version",c.version],["Updated",t(D,{at:c.updatedAt})]]})}),t(E,{title:"Limits",children:t(ke,{of:[["Ca\
lls of one host",`${u.hostConcurrency} for each dispatcher`],["Pending timers",u.quota?.maxPending?P(u.quota.maxPending):"no limit"],["Creates",u.quota?.createsPerSecond?
`${P(u.quota.createsPerSecond)} per second`:"no limit"],["Payload",u.quota?.maxPayloadBytes?`${P(u.quota.maxPayloadBytes)} bytes`:"102,400 bytes"],...(u.flows??
[]).map(p=>[`Flow ${p.pattern}`,[p.rate&&`${p.rate.count} per ${j(p.rate.per)}`,p.concurrency&&`${p.concurrency} at a time`].filter(Boolean).join(", ")])]})}),t(
E,{title:"Keys of signatures",flush:!0,wide:!0,children:u.secrets?.length?t(re,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:u.secrets.
map(p=>t("tr",{children:[t("td",{children:t("code",{children:p.id})}),t("td",{children:t(D,{at:p.createdAt})}),t("td",{children:p.expiresAt?t(D,{at:p.expiresAt}):
"never"})]},p.id))}):t(M,{title:"Callbacks of this namespace are not signed.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with th\
e CLI:"})}),(u.callbackAuth||u.tls)&&t(E,{title:"Authentication of callbacks",children:t(ke,{of:[["Type",u.callbackAuth?.type],["Token endpoint",u.callbackAuth?.
tokenUrl],["Client",u.callbackAuth?.clientId??u.callbackAuth?.username],["Own authorities",u.tls?.ca&&"yes"],["Client certificate",u.tls?.certificate&&"yes"]]})})]})}}),
r&&t(Ve,{action:r,close:()=>{s(null)},after:n.again}),o&&n.data&&t(Ia,{of:n.data,close:()=>{a(!1)},after:n.again})]})}function Ia({of:e,close:n,after:r}){let s=e.
settings,o={callbackTimeout:j(s.callbackTimeout),historyRetention:j(s.historyRetention),deadRetention:j(s.deadRetention),hostConcurrency:String(s.hostConcurrency),
maxPending:String(s.quota?.maxPending??"")},[a,i]=h(o),l=u=>d=>{i({...a,[u]:d})},c=()=>{let u={};for(let d of["callbackTimeout","historyRetention","deadRetentio\
n"])a[d]!==o[d]&&(u[d]=a[d]||null);return a.hostConcurrency!==o.hostConcurrency&&(u.hostConcurrency=a.hostConcurrency?Number(a.hostConcurrency):null),a.maxPending!==
o.maxPending&&(u.quota={...s.quota,maxPending:a.maxPending?Number(a.maxPending):null}),Object.keys(u).length?{name:e.name,settings:u,ifVersion:e.version}:"Nothi\
ng has changed."};return t(de,{title:`Edit ${e.name}`,verb:"Save",path:"namespaces/update",body:c,done:`${e.name} is updated.`,close:n,after:r,children:[t(N,{label:"\
Callback timeout",value:a.callbackTimeout,set:l("callbackTimeout"),hint:"1s to 5m"}),t(N,{label:"History retention",value:a.historyRetention,set:l("historyReten\
tion")}),t(N,{label:"Dead retention",value:a.deadRetention,set:l("deadRetention")}),t(N,{label:"Calls of one host for each dispatcher",type:"number",value:a.hostConcurrency,
set:l("hostConcurrency"),hint:"1 to 1024"}),t(N,{label:"Pending timers, at most",type:"number",value:a.maxPending,set:l("maxPending"),hint:"Empty: no limit"}),t(
"p",{class:"hint",children:["Empty fields get their default. All other settings: ",t("code",{children:["timerbus namespace update ",e.name," --help"]})]})]})}var Ma=50;function Ua(e){if(!e.held)return"free";let n=pn(e.overdueFor??"");return n>=6e4?"l4":n>=1e4?"l3":n>=2e3?"l2":n>0?"l1":"l0"}var qa=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function Lr(){let e=$.value,n=U(`shards/${e}`,5e3,o=>B("shards/list",
{namespace:e},o)),[r,s]=h(Ma);return t(z,{title:"Shards",children:t(q,{of:n,children:({shards:o})=>{let a=o.filter(p=>!p.held).length,i=o.filter(p=>p.overdueFor),
l=Math.max(0,...i.map(p=>pn(p.overdueFor??""))),c=new Map;for(let p of o)p.held&&c.set(p.node??"",(c.get(p.node??"")??0)+1);let u=Math.max(1,...c.values()),d=ut();
return t(y,{children:[t("div",{class:"tiles",children:[t(V,{label:"Shards",value:P(o.length),hint:e}),t(V,{label:"Without an owner",value:P(a),kind:a?"warn":"",
hint:a?"no scheduler runs, or one just ended":"all are owned"}),t(V,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${ge(l)}`:
"none"}),t(V,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),t("div",{class:"grid",children:[t(E,{title:"Lag",wide:!0,aside:t("div",{class:"legend",children:qa.
map(([p,f])=>t("span",{children:[t("i",{class:`cell ${p}`}),f]},p))}),children:t("div",{class:"heat",role:"img","aria-label":`${te(o.length,"shard")}: ${a} with\
out an owner, ${i.length} with overdue timers. The table below has each of them.`,children:o.map(p=>t("i",{class:`cell ${Ua(p)}`,title:`shard ${p.shard}, partit\
ion ${p.partition}, ${p.held?p.node:"no owner"}${p.overdueFor?`, overdue for ${p.overdueFor}`:""}`},p.shard))})}),t(E,{title:"Balance",wide:!0,children:c.size===
0?t(M,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):t("ul",{class:"balance",children:[...c].sort(([p],[f])=>p<
f?-1:1).map(([p,f])=>t("li",{children:[t("span",{class:"clip",children:p}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${f/u*100}\
%`}})}),t("span",{class:"num",children:te(f,"shard")})]},p))})}),t(E,{title:"Every shard",wide:!0,flush:!0,children:[t(re,{caption:"Shards",head:["Shard","Parti\
tion","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:o.slice(0,r).map(p=>t("tr",{children:[t("td",{class:"num","data-label":"Shard",children:p.
shard}),t("td",{class:"num","data-label":"Partition",children:p.partition}),t("td",{class:"clip","data-label":"Owner",children:p.held?p.node:t(ne,{kind:"retryin\
g",children:"none"})}),t("td",{"data-label":"Claimed",children:t(D,{at:p.claimedAt,only:"relative"})}),t("td",{"data-label":"Watermark",children:p.watermark?t("\
time",{dateTime:p.watermark,title:p.watermark,children:[ge(Math.max(0,d-Date.parse(p.watermark)))," behind"]}):t("span",{class:"muted",children:"\u2013"})}),t("\
td",{"data-label":"Next due",children:t(D,{at:p.nextDueAt,only:"relative"})}),t("td",{class:"num","data-label":"Overdue for",children:p.overdueFor??t("span",{class:"\
muted",children:"\u2013"})})]},p.shard))}),o.length>r&&t("div",{class:"pager",children:[t("span",{class:"muted",children:[r," of ",P(o.length)]}),t(w,{onClick:()=>{
s(r+500)},children:"Show more"})]})]})]})]})}})})}function Ha(){let e=le([]),n=$.value,r=U(`callbacks/${n}`,3e3,async()=>{let o=new Ge(await Bt()),a=e.current;for(a.push(o);a.length>2&&o.at-a[1].at>6e4;)a.shift();
let i=a.length>1?a[0]:void 0,l=c=>o.quantile(c,"dispatcher_callback_seconds",i,{namespace:n})??o.quantile(c,"dispatcher_callback_seconds",void 0,{namespace:n});
return{called:o.sum("dispatcher_hosts",{state:"called"}),queued:o.sum("dispatcher_hosts",{state:"queued"}),open:o.sum("dispatcher_hosts",{state:"open"}),inFlight:o.
sum("dispatcher_in_flight"),p50:l(.5),p99:l(.99),results:[...o.by("dispatcher_callbacks_total","result",{namespace:n})].filter(([,c])=>c>0)}}),s=o=>o===void 0?"\
\u2013":ge(o*1e3);return t(q,{of:r,children:o=>o.called===void 0?t("p",{class:"callout",children:["This process delivers no timers, so it knows no hosts. Dispat\
chers export their figures at ",t("code",{children:"/metrics"}),"."]}):t(y,{children:[t("div",{class:"tiles",children:[t(V,{label:"Hosts called",value:P(o.called),
hint:"with calls in flight"}),t(V,{label:"Hosts with a queue",value:P(o.queued??0),hint:"timers wait for a permit",kind:o.queued?"warn":""}),t(V,{label:"Open ci\
rcuits",value:P(o.open??0),hint:"hosts that do not answer",kind:o.open?"bad":""}),t(V,{label:"In flight",value:P(o.inFlight??0),hint:"deliveries of this process"}),
t(V,{label:"Callback p50",value:s(o.p50),hint:n}),t(V,{label:"Callback p99",value:s(o.p99),hint:"last minute"})]}),o.results.length>0&&t(E,{title:`Answers of ${n}\
 since the start of this process`,wide:!0,children:t("div",{class:"chips",children:o.results.map(([a,i])=>t("span",{class:`chip ${a==="2xx"?"done":a==="3xx"?"":
"dead"}`,children:[a," ",t("strong",{children:P(i)})]},a))})})]})})}function ja(e){let n=e.limit;return n?[n.rate&&`${P(n.rate.count)} per ${j(n.rate.per)}`,n.concurrency&&
`${P(n.concurrency)} at a time`].filter(Boolean).join(", "):"no pattern matches"}function za(){let e=$.value,n=U(`targets/${e}`,3e3,r=>B("targets/list",{namespace:e,
limit:200},r));return t(E,{title:"Hosts and user topics",flush:!0,wide:!0,children:t(q,{of:n,children:({delivers:r,targets:s})=>r?s.length===0?t(M,{title:`No ti\
mer of ${e} has been delivered since the start of this process.`}):t(re,{caption:"Hosts and user topics",head:["Target","Circuit","Running","Waiting","Concurren\
cy"],stack:!0,children:s.map(o=>t("tr",{children:[t("td",{class:"id","data-label":"Target",children:o.target}),t("td",{"data-label":"Circuit",children:o.circuitOpen?
t(ne,{kind:"dead",children:"open"}):t(ne,{kind:"done",children:"closed"})}),t("td",{class:"num","data-label":"Running",children:P(o.running)}),t("td",{class:"nu\
m","data-label":"Waiting",children:P(o.waiting)}),t("td",{class:"num","data-label":"Concurrency",children:P(o.concurrency)})]},o.target))}):t(M,{title:"This pro\
cess delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not share this state."})})})}function Fr(){let e=$.value,
n=ee.value.query.get("after")??"",r=U(`flows/${e}/${n}`,3e3,s=>B("flows/list",{namespace:e,after:n||void 0,limit:100},s));return t(z,{title:"Targets",children:[
Ze("read")?t(Ha,{}):t("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),t(za,{}),t(E,{title:"Flow keys",flush:!0,wide:!0,
children:t(q,{of:r,children:s=>t(y,{children:[s.flows.length===0?t(M,{title:`No flow of ${e} is in use.`,command:`timerbus namespace update ${e} --flow 'tenant-\
*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):t(re,{caption:"Flow keys",head:["Flow key","Limit","R\
unning","Waiting","Backlog","Dispatchers"],stack:!0,children:s.flows.map(o=>t("tr",{children:[t("td",{class:"id","data-label":"Flow key",children:o.flowKey}),t(
"td",{"data-label":"Limit",children:ja(o)}),t("td",{class:"num","data-label":"Running",children:P(o.running)}),t("td",{class:"num","data-label":"Waiting",children:P(
o.waiting)}),t("td",{class:"num","data-label":"Backlog",children:P(o.backlog)}),t("td",{class:"num","data-label":"Dispatchers",children:P(o.dispatchers)})]},o.flowKey))}),
(s.next||n)&&t("div",{class:"pager",children:[t("span",{}),t("span",{class:"pager-buttons",children:[n&&t("a",{class:"button",href:A(["targets"]),children:"Firs\
t page"}),s.next&&t("a",{class:"button",href:A(["targets"],{after:s.next}),children:"Next page"})]})]})]})})})]})}function Mr({id:e}){let n=$.value,r=U(`timer/${n}/${e}`,2e3,u=>B("timers/get",{namespace:n,id:e},u)),s=U(`history/${n}/${e}`,3e3,u=>B("timers/history",{namespace:n,
id:e,limit:200},u)),[o,a]=h(null),i=r.data,l=()=>{r.again(),s.again()},c=i&&oe("write",n)&&t(y,{children:[i.status==="dead"||i.status==="parked"||i.status==="do\
ne"?t(w,{kind:"primary",onClick:()=>{a("retry")},children:"Retry\u2026"}):t(y,{children:[i.status!=="paused"&&t(w,{kind:"primary",onClick:()=>{a("run")},children:"\
Run now\u2026"}),i.status==="paused"?t(w,{onClick:()=>{a("resume")},children:"Resume\u2026"}):t(w,{onClick:()=>{a("pause")},children:"Pause\u2026"})]}),i.status!==
"dead"&&i.status!=="done"&&t(y,{children:[t(w,{onClick:()=>{a("update")},children:"Update\u2026"}),t(w,{kind:"danger-ghost",onClick:()=>{a("delete")},children:"\
Delete\u2026"})]})]});return t(z,{title:e,crumb:t(y,{children:[t("a",{href:A(["timers"]),children:"Timers"})," / ",n]}),actions:c,children:[t(q,{of:r,children:u=>t(
"div",{class:"grid",children:[t(Wa,{of:u}),t(Za,{of:u}),t(E,{title:"Attempts",wide:!0,children:t(q,{of:s,children:({attempts:d})=>t(Ja,{attempts:d,of:u})})})]})}),
r.error?.status===404&&t(M,{title:"This timer does not exist, or its history has expired.",children:t("a",{href:A(["timers"]),children:["All timers of ",n]})}),
i&&o&&t(Ka,{of:i,action:o,close:()=>{a(null)},after:l})]})}function Wa({of:e}){let n=e.retryPolicy,r=e.status==="done"||e.status==="dead";return t(E,{title:"Sta\
te",aside:t($e,{status:e.status}),children:[e.lastError&&t("div",{class:"callout bad",children:[t("strong",{children:e.lastStatusCode?`HTTP ${e.lastStatusCode}`:
"Last error"})," ",e.lastError]}),e.pause&&t("div",{class:"callout",children:["Paused",e.pause.by&&` by ${e.pause.by}`," ",t(D,{at:e.pause.at}),e.pause.note&&`:\
 ${e.pause.note}`]}),t(ke,{of:[["Due",r?void 0:t(D,{at:e.dueAt})],["Execute at",t(D,{at:e.executeAt})],["Local time",e.executeAtLocal&&`${e.executeAtLocal.replace(
"T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&t(D,{at:e.executedAt})],["Attempts",`${e.attempts} of ${n.maxAttempts}`],["Retry",`from ${j(n.initialInterval)}\
, \xD7 ${n.backoffMultiplier}, to ${j(n.maxInterval)}`+(n.maxAttemptsDuration&&n.maxAttemptsDuration!=="0s"?`, for ${j(n.maxAttemptsDuration)}`:"")],["Window",e.
window],["Expires",e.expiresAt&&t(D,{at:e.expiresAt})],["Flow key",e.flowKey&&t("code",{children:e.flowKey})],["On done",e.onDone&&t("code",{children:e.onDone})],
["On dead",e.onDead&&t("code",{children:e.onDead})],["Correlation id",t("a",{href:A(["timers"],{correlationId:e.correlationId}),children:t("code",{children:e.correlationId})})],
["Created",t(D,{at:e.createdAt})],["Updated",t(D,{at:e.updatedAt})],["Generation",t("code",{children:e.generation})],["UUID",t("code",{children:e.uuid})]]})]})}
function Za({of:e}){let n=!be.hidePayloads,r=t("p",{class:"muted",children:"Hidden by the settings of the server."});return t(E,{title:"Request",children:[t(ke,
{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&t("span",{class:"url",children:[t("code",{children:e.
callbackUrl})," ",t(It,{text:e.callbackUrl})]})],["Topic",e.topic&&t("code",{children:e.topic})],["Key",e.key&&t("code",{children:e.key})],["Timeout",j(e.callbackTimeout)],
["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&t(y,{children:[t("h3",{children:"Headers"}),n?t(ke,{of:Object.entries(e.headers).
map(([s,o])=>[s,t("code",{children:o})])}):r]}),t("h3",{children:"Payload"}),n?e.payload!==void 0?t(Ke,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?
t(Ke,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?t(Ke,{value:e.request.bodyBase64,label:"Body, base64"}):t("p",{class:"muted",children:e.
status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}var Ir={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"\
dead",expired:"parked"};function Ja({attempts:e,of:n}){if(e.length===0)return t(M,{title:"No attempt has ended yet.",children:n.status==="scheduled"&&t(y,{children:[
"The first one begins ",t(D,{at:n.dueAt}),"."]})});let r=a=>Date.parse(a.finishedAt)-Date.parse(a.startedAt),s=Math.max(1,...e.map(r)),o=(a,i)=>{let l=e[i+1];return Date.
parse(a.startedAt)-Date.parse(l?.generation===a.generation&&l.nextAt?l.nextAt:a.executeAt)};return t("ol",{class:"timeline",children:e.map((a,i)=>t("li",{class:Ir[a.
outcome],children:[t("div",{class:"timeline-head",children:[t(ne,{kind:Ir[a.outcome],children:a.outcome}),t("strong",{children:["Attempt ",a.attempt]}),t(D,{at:a.
startedAt}),t("span",{class:"muted",children:[ge(Math.max(0,o(a,i)))," late"]})]}),t("div",{class:"timeline-body",children:[t("span",{children:[n.callbackUrl?t(
y,{children:[t("code",{children:n.request?.method??"POST"})," \u2192 "]}):"published \u2192 ",a.statusCode?t("strong",{children:["HTTP ",a.statusCode]}):a.error?
"no answer":"accepted"]}),t("span",{class:"meter","aria-hidden":"true",children:t("span",{style:{width:`${Math.max(1,r(a)/s*100)}%`}})}),t("span",{class:"num",children:ge(
r(a))})]}),a.error&&t("p",{class:"timeline-error",children:a.error}),a.nextAt&&t("p",{class:"muted",children:["Next attempt: ",t(D,{at:a.nextAt})]})]},a.generation+
a.attempt+a.startedAt))})}function Ka({of:e,action:n,close:r,after:s}){let[o,a]=h(""),[i,l]=h("deliver"),[c,u]=h(""),d={namespace:e.namespace,id:e.id,ifGeneration:e.
generation},p={close:r,after:s};switch(n){case"run":return t(de,{...p,title:"Run now",verb:"Run now",path:"timers/run-now",body:()=>d,done:`${e.id} runs now.`,children:t(
"p",{children:"The timer becomes due at once, as a new run of attempts."})});case"pause":return t(de,{...p,title:"Pause",verb:"Pause",path:"timers/pause",body:()=>({
...d,note:o||void 0}),done:`${e.id} is paused.`,children:[t("p",{children:"A paused timer is not delivered until it is resumed."}),t(N,{label:"Note",value:o,set:a,
hint:"Why it is paused; shown to everyone who may read it."})]});case"resume":return t(de,{...p,title:"Resume",verb:"Resume",path:"timers/resume",body:()=>({...d,
overdue:i}),done:`${e.id} is resumed.`,children:t(ie,{label:"If its time has passed",value:i,set:l,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"\
retry":return t(de,{...p,title:"Retry",verb:"Retry",path:"timers/retry",body:()=>({...d,executeIn:c||void 0}),done:`${e.id} is scheduled again.`,children:[t("p",
{children:["The timer starts again at attempt 1",e.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),t(N,{label:"Dela\
y",value:c,set:u,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return t(de,{...p,title:"Delete",verb:"Delete",danger:!0,path:"timer\
s/delete",body:()=>d,done:`${e.id} is deleted.`,after:()=>{ae(["timers"])},children:t("p",{children:["Delete ",t("code",{children:e.id}),"? It is not delivered \
any more."]})});default:return t(Va,{of:e,...p})}}function Va({of:e,close:n,after:r}){let s={at:Ne(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?
"":JSON.stringify(e.payload,null,2)},[o,a]=h(s.at),[i,l]=h(s.url),[c,u]=h(s.payload);return t(de,{title:"Update",verb:"Save",path:"timers/update",body:()=>{let p={};
if(o!==s.at){let f=ue(o);if(!f)return"Enter the time completely.";p.executeAt=f}if(i!==s.url&&(p.callbackUrl=i||null),c!==s.payload)try{p.payload=c.trim()?lt(c):
null}catch(f){return`The payload is not JSON: ${f.message}`}return Object.keys(p).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.id,ifGeneration:e.
generation,...p}},done:`${e.id} is updated.`,close:n,after:r,children:[t(N,{label:"Time",type:"datetime-local",step:"1",value:o,set:a}),t(N,{label:"Callback URL",
value:i,set:l,mono:!0}),be.hidePayloads?t("p",{class:"muted",children:"Payloads are hidden by the settings of the server."}):t(pt,{label:"Payload (JSON)",value:c,
set:u,rows:8}),t("p",{class:"hint",children:"Only changed fields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var yn=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function Ga(){let[e="overview",n,r]=ee.value.path,s=`${e}/${$.value}/${n??""}`;if(!Ce.value&&(e==="overview"||e==="targe\
ts"))return t("div",{class:"skeleton",role:"status",children:t("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return t(_r,{},s);case"timers":
return n===void 0?t(br,{},s):t(Mr,{id:n},s);case"dead":return t(kr,{},s);case"schedules":return n===void 0?t(xr,{},s):t(Cr,{id:n},s);case"namespaces":return n===
void 0?t(Dr,{}):t(Or,{name:n},n);case"targets":return t(Fr,{},s);case"shards":return t(Lr,{},s);case"new":return n==="schedule"?t(Rr,{},s):t(Br,{},s+(r??""));default:
return t(z,{title:"Not found",children:t(M,{title:"There is no such page.",children:t("a",{href:A(["overview"]),children:"Overview"})})})}}function Xa({reason:e}){
let[n,r]=h(""),[s,o]=h(),[a,i]=h(!1);X(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=xe.value;i(!0),o(void 0),Et(n.trim());try{await ct()}catch(u){
Et(c),o(u instanceof I?u:new I(0,"UNEXPECTED",String(u)))}i(!1)};return t("main",{class:"sign-in",children:t("form",{class:"card",onSubmit:c=>{c.preventDefault(),
l()},children:[t("h1",{children:[t(kn,{})," Timerbus"]}),t("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the iden\
tity provider."}),s?t(me,{error:s}):xe.value&&t("div",{class:"error",role:"alert",children:t("p",{children:e})}),t("div",{class:"field",children:[t("label",{for:"\
token",children:"Token"}),t("input",{id:"token",type:"password",value:n,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.
value)}}),t("p",{class:"hint",id:"token-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",t("code",{children:" timer\
bus key create ui --grant read@*"}),"."]})]}),t("button",{type:"submit",class:"button primary block",disabled:a,children:a?"Checking\u2026":"Sign in"})]})})}var kn=()=>t(
"svg",{class:"mark",viewBox:"0 0 32 32","aria-hidden":"true",children:[t("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),t("circle",{cx:"16",cy:"16",r:"\
9",class:"mark-line"}),t("path",{d:"M16 10.5V16l4 2.6",class:"mark-line"})]});function Ya({close:e}){return t(Ie,{title:"Keyboard",close:e,children:[t("dl",{class:"\
facts keys",children:[yn.map(([,n,r])=>t("div",{children:[t("dt",{children:[t("kbd",{children:"g"})," ",t("kbd",{children:r})]}),t("dd",{children:n})]},r)),t("d\
iv",{children:[t("dt",{children:t("kbd",{children:"c"})}),t("dd",{children:"Create a timer"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"/"})}),t(
"dd",{children:"Search or filter"})]}),t("div",{children:[t("dt",{children:t("kbd",{children:"l"})}),t("dd",{children:"Live updates on or off"})]}),t("div",{children:[
t("dt",{children:t("kbd",{children:"?"})}),t("dd",{children:"This list"})]})]}),t("label",{class:"check",children:[t("input",{type:"checkbox",checked:Ot.value===
"on",onChange:n=>{Ot.value=n.currentTarget.checked?"on":"off"}}),"Use these keys"]})]})}var bn=0;function Qa(e){X(()=>{let n=r=>{let s=r.target;if(r.ctrlKey||r.
metaKey||r.altKey||s.closest("input, textarea, select, dialog, [contenteditable]"))return;if(r.key==="?"){e();return}if(Ot.value==="off")return;let o=Date.now()-
bn<1500;if(bn=0,o){let a=yn.find(([,,i])=>i===r.key);a&&ae([a[0]])}else if(r.key==="g")bn=Date.now();else if(r.key==="c")ae(["new","timer"]);else if(r.key==="l")
ye.value=ye.value==="on"?"off":"on";else if(r.key==="/"){let a=document.querySelector("[data-search]");a&&(r.preventDefault(),a.focus())}};return addEventListener(
"keydown",n),()=>{removeEventListener("keydown",n)}},[])}function es(){let[e,n]=h(!1),[r,s]=h(!1);Qa(()=>{s(!0)}),X(()=>{Ce.value&&Rt().catch(()=>{})},[Ce.value?.
name]);let[o="overview"]=ee.value.path;X(()=>{n(!1)},[ee.value]);let a=[...new Set([$.value,...cn.value.map(c=>c.name)])].sort(),i=c=>{ee.value.path.length>1&&o!==
"new"?ae([o],{ns:c}):fe({ns:c})};return t(y,{children:[t("button",{type:"button",class:"skip",onClick:()=>{document.querySelector("#main h1")?.focus()},children:"\
Skip to the content"}),t("header",{children:[t(w,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{n(!e)},children:"\u2630"}),
t("a",{class:"brand","aria-label":"Timerbus, overview",href:A(["overview"]),children:[t(kn,{}),t("span",{children:"Timerbus"})]}),t("label",{class:"sr",for:"ns",
children:"Namespace"}),t("select",{id:"ns",class:"namespace",value:$.value,onChange:c=>{i(c.currentTarget.value)},children:a.map(c=>t("option",{value:c,selected:c===
$.value,children:c},c))}),t("div",{class:"spacer"}),be.readOnly&&t("span",{class:"badge paused",children:"read-only"}),t("div",{class:`prefs${e?" open":""}`,children:[
t("label",{class:"sr",for:"zone",children:"Time zone"}),t("select",{id:"zone",value:ce.value,onChange:c=>{ce.value=c.currentTarget.value},children:[t("option",{
value:"local",selected:ce.value==="local",children:"Local time"}),t("option",{value:"utc",selected:ce.value==="utc",children:"UTC"}),t("option",{value:"schedule",
selected:ce.value==="schedule",children:["Schedule",Se.value?` (${Se.value})`:"\u2019s zone"]})]}),t(w,{kind:"ghost live","aria-pressed":ye.value==="on",title:"\
Live updates",onClick:()=>{ye.value=ye.value==="on"?"off":"on"},children:[t("span",{class:"dot"}),"Live"]}),t("label",{class:"sr",for:"theme",children:"Colours"}),
t("select",{id:"theme",value:Ee.value,onChange:c=>{Ee.value=c.currentTarget.value},children:[t("option",{value:"auto",selected:Ee.value==="auto",children:"Auto"}),
t("option",{value:"light",selected:Ee.value==="light",children:"Light"}),t("option",{value:"dark",selected:Ee.value==="dark",children:"Dark"})]})]})]}),t("div",
{class:"frame",children:[t("nav",{id:"nav","aria-label":"Pages",class:e?"open":"",children:[t("ul",{children:yn.map(([c,u])=>t("li",{children:t("a",{href:A([c]),
"aria-current":o===c?"page":void 0,children:u})},c))}),t("div",{class:"nav-foot",children:[t("div",{children:Ce.value?.name==="anyone"?"no credential required":
Ce.value?.name}),xe.value&&t(w,{kind:"small",onClick:()=>{Et(""),Ce.value=null,ct().catch(()=>{})},children:"Sign out"}),t(w,{kind:"small",onClick:()=>{s(!0)},children:"\
Keyboard"}),t("div",{class:"version",children:[be.version," \xB7 ",t("a",{href:"licenses.txt",children:"licences"})]})]})]}),t("main",{id:"main",children:t(Ga,{})})]}),
t("div",{class:"notices",role:"status","aria-live":"polite",children:Je.value.map(c=>t("div",{class:`notice ${c.kind}`,children:[c.text,t(w,{kind:"icon","aria-l\
abel":"Dismiss",onClick:()=>{un(c.id)},children:"\u2715"})]},c.id))}),r&&t(Ya,{close:()=>{s(!1)}})]})}var ts=ct();function ns(){let[e,n]=h(),r=(s=ct())=>{n(void 0),
s.catch(o=>{o instanceof I&&o.status!==401&&n(o)})};return wt(()=>{r(ts)},[]),it.value!==null?t(Xa,{reason:it.value}):e?t("main",{class:"sign-in",children:t("di\
v",{class:"card",children:[t("h1",{children:[t(kn,{})," Timerbus"]}),t(me,{error:e,again:()=>{r()}})]})}):t(es,{})}Dn(t(ns,{}),document.getElementById("app"));
